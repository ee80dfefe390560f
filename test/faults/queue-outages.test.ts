// Servers that are replaced or moved or lose data, and dead connections that no peer closed, while processes enqueue
// jobs and work on them: the processes recover by themselves, and no more is lost than documented.

import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { LONG, SEED, tell } from '../proof.ts'
import { startCluster } from '../servers/cluster.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import { startSentinels } from '../servers/sentinels.ts'
import type { QueueVerdict } from '../soak/queue/check-queue.ts'
import { failOver, losePower, moveSlots, swallowAll } from '../soak/queue/outages.ts'
import { onServer, type QueuePlace } from '../soak/queue/place.ts'
import type { SoakKind } from '../soak/queue/plan.ts'
import { soakQueue } from '../soak/queue/soak.ts'

const port = inject('redisPort')

function stopped<Started extends { stop(): Promise<void> }>(started: Started): Started {
  onTestFinished(() => started.stop())
  return started
}

function holds(what: string, seed: number, { faults, ...counted }: QueueVerdict): void {
  tell(`queue, ${what}, seed ${seed}: ${JSON.stringify({ faults, ...counted })}`)
  expect(faults).toEqual([])
  expect(counted.totals['enqueued']).toBeGreaterThan(50)
}

describe('three processes', { timeout: LONG ? 1_800_000 : 120_000 }, () => {
  // ioredis#2193, bullmq#1658, bee-queue#438
  test.each((LONG ? ['limited', 'families'] : ['limited']) as SoakKind[])(
    'settle their calls when no connection works any more, and others do their %s jobs',
    async (kind) => {
      const seed = SEED + 3000
      const proxies = await Promise.all([1, 2, 3].map(async () => stopped(await startProxy(port))))
      const verdict = await soakQueue({
        kind,
        port,
        portOf: (at) => proxies[at]?.port ?? 0,
        seed,
        deadlineMs: 700,
        trouble: (scene) => swallowAll(scene, proxies, LONG ? 20 : 2),
      })

      holds(`${kind}, dead connections`, seed, verdict)
      expect(verdict.totals['unheard']).toBeGreaterThan(0)
      expect(verdict.totals['reclaimed']).toBeGreaterThan(0)
    },
  )

  // bullmq#4378, bullmq#648, bull#1390
  test('continue when a replica takes over; only writes that it never got are lost', async () => {
    const seed = SEED + 3100
    const group = stopped(await startSentinels())
    const place: QueuePlace = { kind: 'sentinels', ports: group.sentinelPorts, name: group.masterName }
    const trouble = {
      trouble: (scene: Parameters<typeof failOver>[0]) => failOver(scene, group, LONG ? 5 : 1),
    }
    const verdict = await soakQueue({ kind: 'limited', port, place, seed, deadlineMs: 15_000, ...trouble })

    holds('failovers', seed, verdict)
  })

  test('find every write that was acknowledged more than two seconds before the server lost its power', async () => {
    const seed = SEED + 3200
    const server = stopped(await startRedis({ aof: 'everysec' }))
    const verdict = await soakQueue({
      kind: 'limited',
      port,
      place: onServer(server.port),
      seed,
      trouble: (scene) => losePower(scene, server, LONG ? 20 : 1),
    })

    holds('power lost', seed, verdict)
    expect(verdict.happened['bytes taken']).toBeGreaterThan(0)
  })
})

test.each((LONG ? ['plain', 'limited', 'families'] : ['limited']) as SoakKind[])(
  'eight producers of %s jobs, and workers, lose nothing while the slot of their queue moves',
  { timeout: LONG ? 1_800_000 : 120_000 },
  async (kind) => {
    const seed = SEED + 3300
    const cluster = stopped(await startCluster())
    const verdict = await soakQueue({
      kind,
      port,
      place: { kind: 'cluster', ports: cluster.ports, name: '' },
      seed,
      processes: 4,
      producers: 2,
      deadlineMs: 15_000,
      trouble: (scene) => moveSlots(scene, cluster, LONG ? 40 : 2),
    })

    holds(`${kind}, slots moved`, seed, verdict)
  },
)

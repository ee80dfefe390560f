// Processes that enqueue jobs and work on them, and die of it, stand still, or lose their connections or their server: no
// job is lost, and none is done twice as far as the queue is asked.

import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { LONG, SEED, tell } from '../proof.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import type { QueueVerdict } from '../soak/queue/check-queue.ts'
import type { SoakKind } from '../soak/queue/plan.ts'
import { type QueueScene, soakQueue } from '../soak/queue/soak.ts'
import { breakConnections, killAndPause, restartServer } from '../soak/queue/trouble.ts'

const KINDS: readonly SoakKind[] = ['plain', 'limited', 'families']

type Happened = QueueVerdict['happened']

function holds(what: string, seed: number, verdict: QueueVerdict): void {
  tell(`queue, ${what}, seed ${seed}: ${JSON.stringify(verdict)}`)
  expect(verdict.faults).toEqual([])
}

describe.each(KINDS)('%s jobs of three processes', { timeout: LONG ? 1_800_000 : 120_000 }, (kind) => {
  const seed = SEED + KINDS.indexOf(kind) * 100

  test('that nothing happens to are done once each', async () => {
    const produces = LONG ? 1000 : 60
    const verdict = await soakQueue({ kind, port: inject('redisPort'), seed, leaseMs: 60_000, produces })

    holds(`${kind}, no trouble`, seed, verdict)
    expect(verdict.totals).toMatchObject({ reclaimed: 0, unheard: 0, 'told lost': 0, 'told nothing': 0 })
  })

  test('survive processes that are killed, paused and poisoned', async () => {
    const kills = LONG ? 200 : 4
    const poison = LONG ? 10 : 4
    const port = inject('redisPort')
    const trouble = (scene: QueueScene): Promise<Happened> => killAndPause(scene, kills)
    const verdict = await soakQueue({ kind, port, seed: seed + 1, poison, trouble })

    holds(`${kind}, kills`, seed + 1, verdict)
    expect(verdict.happened['died']).toBeGreaterThanOrEqual(kills)
    expect(verdict.totals['reclaimed']).toBeGreaterThan(0)
  })

  test('survive connections that break, and answers that are lost', async () => {
    const proxies = await Promise.all([1, 2, 3].map(() => startProxy(inject('redisPort'))))
    onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.stop()))))
    const portOf = (at: number): number => proxies[at]?.port ?? 0
    const trouble = (scene: QueueScene): Promise<Happened> =>
      breakConnections(scene, proxies, LONG ? 60_000 : 3000)
    const verdict = await soakQueue({
      kind,
      port: inject('redisPort'),
      portOf,
      seed: seed + 2,
      produces: 600,
      trouble,
    })

    holds(`${kind}, connections`, seed + 2, verdict)
    expect(verdict.happened['replies cut']).toBeGreaterThan(0)
  })

  test('survive a server that is killed and started again', async () => {
    const server = await startRedis({ aof: 'always' })
    onTestFinished(() => server.stop())
    const trouble = (scene: QueueScene): Promise<Happened> => restartServer(scene, server, LONG ? 40 : 2)
    const verdict = await soakQueue({ kind, port: server.port, seed: seed + 3, trouble })

    holds(`${kind}, restarts`, seed + 3, verdict)
  })
})

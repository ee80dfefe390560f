// Faults of the servers of a queue, and dead connections that no peer has closed. No process is killed meanwhile: every
// process has to recover by itself.

import { statSync, truncateSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { appendOnlyFile } from '../../servers/append-only.ts'
import { ask, until } from '../../servers/ask.ts'
import type { RedisCluster } from '../../servers/cluster.ts'
import type { Proxy } from '../../servers/proxy.ts'
import type { RedisServer } from '../../servers/redis.ts'
import type { Sentinels } from '../../servers/sentinels.ts'
import { cutReplication, isReplicaInSync, moveSlot, ownerOf } from '../cluster-trouble.ts'
import type { QueueVerdict } from './check-queue.ts'
import type { Line } from './log.ts'
import type { QueueScene } from './soak.ts'

type Happened = QueueVerdict['happened']

/** Writes acknowledged so long before a failover may not have reached the replica. */
const LAG_MS = 500
/** The loss of a server that flushes once a second. */
const UNFLUSHED_MS = 2000
/** An answer that came in time may be written down that much later. */
const LATE_MS = 1000
const PATIENCE_MS = 60_000

/** All that a process sends is swallowed, until its calls have settled without any answer. */
export async function swallowAll(
  scene: QueueScene,
  proxies: readonly Proxy[],
  times: number,
): Promise<Happened> {
  for (let swallowed = 0; swallowed < times; swallowed++) {
    await allAtWork(scene)
    await sleep(scene.random() * 300)
    const at = Math.floor(scene.random() * proxies.length)
    const before = (await scene.lines()).length
    proxies[at]?.halfOpen()
    await seen(scene, 'calls have settled', (lines) => {
      // It may have had no job; but everybody enqueues.
      return lines.slice(before).some(({ by, kind }) => by === `p${at}` && kind === 'unknown')
    })
    // As a system does that gets no sign of life.
    proxies[at]?.heal()
    proxies[at]?.resetAll()
  }
  return { 'connections dead': times }
}

/** Moves the slots of all queues in turn. */
export async function moveSlots(scene: QueueScene, cluster: RedisCluster, moves: number): Promise<Happened> {
  for (let moved = 0; moved < moves; moved++) {
    await allAtWork(scene)
    await sleep(scene.random() * 300)
    const slot = await cluster.slotOf(scene.keys[moved % scene.keys.length] ?? '')
    await until('all nodes agree about the slot', async () => (await ownerOf(cluster, slot)) > 0)
    await moveSlot(cluster, slot, scene.random)
  }
  await allGoOn(scene)
  return { 'slots moved': moves }
}

/** Kills the primary when replicas have not got everything. */
export async function failOver(scene: QueueScene, group: Sentinels, times: number): Promise<Happened> {
  for (let failed = 0; failed < times; failed++) {
    await allAtWork(scene)
    await sleep(500 + scene.random() * 500)
    const [replica] = group.replicas
    if (replica === undefined) throw new Error('there is no replica')
    const old = group.primary
    const fromMs = Date.now() - LAG_MS
    await cutReplication(old.port, replica.port)
    await sleep(scene.random() * 300)
    await group.failover()
    scene.mayLose({ fromMs, toMs: Date.now() + LATE_MS })
    await ask(replica.port, 'CONFIG', 'SET', 'masterauth', '')
    await allGoOn(scene)
    if (failed + 1 === times) break
    await old.restart()
    // Sentinel had it written down that its replication was cut, when it had been the replica itself.
    await ask(old.port, 'CONFIG', 'SET', 'masterauth', '')
    await until('the old primary follows', () => isReplicaInSync(old.port), PATIENCE_MS)
  }
  return { failovers: times }
}

/** Kills a server that flushes once a second, and every other time takes what it may not have flushed. */
export async function losePower(scene: QueueScene, server: RedisServer, times: number): Promise<Happened> {
  let taken = 0
  for (let lost = 0; lost < times; lost++) {
    await allAtWork(scene)
    // Some of it is older than what may be lost.
    await sleep(UNFLUSHED_MS + 200 + scene.random() * 800)
    const file = appendOnlyFile(server.dir)
    const { size } = statSync(file)
    await sleep(300 + scene.random() * 400)
    await server.kill()
    const fromMs = Date.now() - UNFLUSHED_MS
    if (lost % 2 === 0) {
      taken += statSync(file).size - size
      truncateSync(file, size)
    }
    await server.restart()
    scene.mayLose({ fromMs, toMs: Date.now() + LATE_MS })
    await allGoOn(scene)
  }
  return { 'power lost': times, 'bytes taken': taken }
}

async function allAtWork(scene: QueueScene): Promise<void> {
  await seen(scene, 'all are at work', (lines) => isEverybody(scene, lines))
}

/** All enqueue jobs from here on, and do some. */
async function allGoOn(scene: QueueScene): Promise<void> {
  const before = await scene.lines()
  // Permanent losses must not count.
  const atMs = Date.now() + LATE_MS
  await seen(scene, 'all have gone on', (lines) => {
    const later = lines.slice(before.length).filter((line) => line.atMs > atMs)
    return isEverybody(scene, later)
  })
}

function isEverybody({ processes }: QueueScene, lines: readonly Line[]): boolean {
  const enqueuing = lines.filter(({ kind }) => kind === 'enqueued')
  const working = lines.filter(isAcked)
  return [enqueuing, working].every((those) => new Set(those.map(({ by }) => by)).size === processes)
}

function isAcked(line: Line): boolean {
  return line.kind === 'settled' && line.outcome === 'acked'
}

async function seen(scene: QueueScene, what: string, holds: (lines: Line[]) => boolean): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS
  while (!holds(await scene.lines())) {
    if (performance.now() > endsAt) throw new Error(`waited in vain until ${what}`)
    await sleep(50)
  }
}

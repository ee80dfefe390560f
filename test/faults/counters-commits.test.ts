// Connections that end between COMMIT and its reply, while several flush and more is counted.

import { expect, onTestFinished, test } from 'vitest'
import { LONG } from '../proof.ts'
import { until } from '../servers/ask.ts'
import { mysqlPackets, postgresPackets } from '../servers/packets.ts'
import { startProxy } from '../servers/proxy.ts'
import { countHere, Reader } from './counters-counting.ts'
import { openScene } from './counters-scene.ts'

const COMMITS = LONG ? 200 : 12
/** Not the COMMITTED of an isolation level. */
const COMMIT = /\WCOMMIT\0?$/

test.each([
  { kind: 'postgres', newReader: postgresPackets },
  { kind: 'mariadb', newReader: mysqlPackets },
] as const)(
  'each increment is in $kind once, though answers to COMMIT are lost repeatedly',
  {
    timeout: 600_000,
  },
  async ({ kind, newReader }) => {
    const scene = await openScene(kind)
    const { books } = scene
    const proxy = await startProxy(scene.address.port, newReader)
    onTestFinished(() => proxy.stop())
    const { counters } = scene.connect()
    const counting = countHere(counters, books)
    const reader = new Reader(scene.connect().counters, () => books.newestIds)
    const flushers = [1, 2].map(() =>
      scene.connect({ sqlPort: proxy.port, batchSize: 7 }).counters.flushEvery('5ms'),
    )

    for (let cut = 0; cut < COMMITS; cut++) {
      proxy.cutReplies(1, COMMIT)
      await until('a commit was cut', async () => proxy.pendingFaults === 0)
    }
    await counting.stop()
    await Promise.all(flushers.map((flusher) => flusher.close()))
    await reader.stop()

    await scene.holds(`${COMMITS} lost answers to COMMIT`, counters)
    expect(reader.faults).toEqual([])
    expect(reader.reads).toBeGreaterThan(10)
    expect(books.count('acked')).toBe(books.size)
  },
)

// Redis loses everything in the middle of counting: values come back from the database, and only those increments are
// lost that were not in it yet.

import type { Loss } from '../../src/counters/source.ts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LONG, tell } from '../proof.ts'
import { withClient } from '../servers/ask.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import type { Bounds, Outcome } from './counters-books.ts'
import { countHere, Reader } from './counters-counting.ts'
import { openScene, type Scene } from './counters-scene.ts'

const ROUNDS = LONG ? 20 : 2
const KINDS = LONG ? (['postgres', 'mariadb', 'sqlite'] as const) : (['postgres'] as const)

interface Way {
  readonly what: string
  /** How often increments under way may count: a caller without an answer asks again, and Redis does not remember. */
  readonly mostUnderWay: number
  empty(server: RedisServer): Promise<unknown>
}

const WAYS: readonly Way[] = [
  {
    what: 'is emptied by FLUSHALL',
    mostUnderWay: 1,
    empty: ({ port }) => withClient(port, (client) => client.flushall()),
  },
  {
    what: 'restarts and has kept nothing',
    mostUnderWay: 2,
    empty: async (server) => {
      await server.kill()
      await server.restart()
    },
  },
]

/** The possible outcomes of the increments that had begun when everything was lost. */
class Losses {
  readonly #least = new Map<number, number>()
  readonly #most = new Map<number, number>()

  /** Right before it happens. */
  note({ books }: Scene, stored: Record<string, string>): void {
    for (const [n, times] of books.timesIn(stored)) if (times === 0) this.#least.set(n, 0)
  }

  /** Right after it: the increments without an answer, and those that began since. */
  noteUnderWay(numbers: readonly number[], most: number): void {
    for (const n of numbers) {
      this.#least.set(n, 0)
      this.#most.set(n, most)
    }
  }

  bounds(n: number, outcome: Outcome): Bounds {
    const least = outcome === 'acked' ? (this.#least.get(n) ?? 1) : 0
    return { least, most: outcome === 'refused' ? 0 : (this.#most.get(n) ?? 1) }
  }
}

async function ownRedis(): Promise<RedisServer> {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  return server
}

/** Empties it while much is under way. Answers where a reader saw a counter go back before. */
async function emptyUnderLoad(
  scene: Scene,
  server: RedisServer,
  way: Way,
  losses: Losses,
): Promise<string[]> {
  const { books } = scene
  // The value shown before the loss may be greater than the one after it.
  const reader = new Reader(scene.connect().counters, () => books.newestIds)
  const counted = books.count('acked')
  await expect.poll(() => books.count('acked')).toBeGreaterThan(counted + 200)
  await reader.stop()
  losses.note(scene, await scene.stored())
  const [underWay, begun] = [books.underWay, books.size]
  await way.empty(server)
  const since = Array.from({ length: books.size - begun }, (_, at) => begun + at)
  losses.noteUnderWay([...underWay, ...since], way.mostUnderWay)
  return reader.faults
}

describe.each(KINDS)('counters over %s', (kind) => {
  test.each(WAYS)(
    'lose only unflushed increments when Redis $what, and report it',
    {
      timeout: 300_000,
    },
    async (way) => {
      const server = await ownRedis()
      const scene = await openScene(kind, server.port)
      const { books } = scene
      const reported: Loss[] = []
      const losses = new Losses()
      const connect = () => scene.connect({ onLoss: (loss) => reported.push(loss) }).counters
      const counters = connect()
      const counting = [countHere(counters, books), countHere(connect(), books)]
      const flushing = [connect(), connect()].map((each) => each.flushEvery('20ms'))
      const backwards: string[] = []

      for (let round = 1; round <= ROUNDS; round++) {
        backwards.push(...(await emptyUnderLoad(scene, server, way, losses)))
        await expect.poll(() => reported.length).toBeGreaterThanOrEqual(round)
      }
      await Promise.all(counting.map((each) => each.stop()))
      await Promise.all(flushing.map((each) => each.close()))
      await counters.reconcile(books.newestIds)

      const stored = await scene.stored()
      const faults = books.faults(stored, (n, outcome) => losses.bounds(n, outcome))
      expect(faults.slice(0, 10)).toEqual([])
      expect(backwards).toEqual([])
      expect(new Set(reported.map(({ why }) => why))).toEqual(new Set(['keyspace lost']))
      const shown = await counters.getMany(books.newestIds)
      expect(shown.map(String)).toEqual(books.newestIds.map((id) => stored[id] ?? '0'))
      const lost = [...books.timesIn(stored).values()].filter((times) => times === 0).length
      tell(`counters on ${kind}, Redis ${way.what} ${ROUNDS} times: ${lost} of ${books.size} increments lost`)
    },
  )

  test.each(WAYS)(
    'show the database values after Redis $what, and continue from there',
    async ({ empty }) => {
      const server = await ownRedis()
      const scene = await openScene(kind, server.port)
      const reported: Loss[] = []
      const { counters } = scene.connect({ onLoss: (loss) => reported.push(loss) })
      for (let round = 1; round <= ROUNDS; round++) {
        await counters.increment(1, 10)
        await counters.flush()
        await counters.increment(1, 5)
        await empty(server)

        expect(await counters.get(1)).toBe(10 * round)
        expect(reported).toHaveLength(round)
      }
      expect(await counters.increment(1)).toBe(10 * ROUNDS + 1)
      await counters.flush()
      expect(await scene.stored()).toEqual({ 1: String(10 * ROUNDS + 1) })
    },
  )
})

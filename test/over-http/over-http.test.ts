// The same history through the library and over HTTP has the same outcome, step by step, and leaves the same data. A
// failure prints the seed, the step, and those before it. PERILUNE_LONG=1 plays sixty times as many.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../server/testing/feed-api.ts'
import { Logged } from '../../server/testing/logged.ts'
import { audit } from '../audit/audit.ts'
import { diceOf } from '../audit/deed.ts'
import { countOf, SEED, tell } from '../proof.ts'
import { seeded } from '../soak/random.ts'
import { autocompletePart } from './autocomplete.ts'
import { cachePart } from './caches.ts'
import { collectionPart } from './collections.ts'
import { type CounterTables, counterPart, openTables } from './counters.ts'
import { feedPart } from './feeds.ts'
import { electionPart, lockPart } from './locks.ts'
import { oncePart } from './once.ts'
import { partitionedQueuePart, queuePart } from './queues.ts'
import { rateLimitPart } from './rate-limits.ts'
import { semaphorePart } from './semaphores.ts'
import { type Part, Sides } from './sides.ts'

const HISTORIES = countOf(60, 3)
const NAMESPACES = { here: `here-${randomUUID()}`, there: `there-${randomUUID()}` }

const logged = new Logged()
let client: Redis
let redis: Perilune
let api: FeedApi
let tables: CounterTables
beforeAll(async () => {
  client = new Redis(inject('redisPort'))
  redis = perilune(ioredis(client), { namespace: NAMESPACES.here })
  tables = await openTables()
  api = await startFeedApi(inject('redisPort'), {
    namespace: NAMESPACES.there,
    counters: tables.entries,
    logTarget: logged,
  })
})
afterAll(async () => {
  await redis.close()
  await api[Symbol.asyncDispose]()
  client.disconnect()
  await tables[Symbol.asyncDispose]()
})

/** `at`: the number of the history. */
type PartOf = (sides: Sides, at: number) => Part

const PARTS: readonly [what: string, steps: number, partOf: PartOf][] = [
  ['feeds', 80, feedPart],
  ['queues', 120, queuePart],
  ['queues in partitions', 70, partitionedQueuePart],
  ['locks', 30, lockPart],
  ['elections', 30, electionPart],
  ['semaphores', 30, semaphorePart],
  ['rate limits', 30, rateLimitPart],
  ['once', 30, oncePart],
  ['collections', 30, collectionPart],
  ['autocomplete', 30, autocompletePart],
  ['caches', 30, cachePart],
  ['counters', 30, (sides, at) => counterPart(sides, at, tables)],
]

const TITLE = 'the same history of %s has the same outcome over HTTP'

test.each(PARTS)(TITLE, { timeout: 600_000 }, async (what, steps, partOf) => {
  for (let at = 0; at < HISTORIES; at += 1) {
    const dice = diceOf(seeded(SEED * 1000 + at))
    const sides = new Sides(`${what}-${at}`.replaceAll(' ', '-'), dice, redis, api)
    try {
      await play(sides, partOf(sides, at), steps)
    } catch (error) {
      throw new Error(`seed ${SEED}, history ${at} of ${what}`, { cause: error })
    }
  }
  for (const namespace of Object.values(NAMESPACES)) expect(await audit(client, namespace)).toEqual([])
  expect(logged.alarms.slice(0, 3)).toEqual([])
  expect(logged.has('?')).toBe(false)
  tell(`${what} over HTTP: ${HISTORIES} histories of ${steps} steps as through the library, seed ${SEED}`)
})

async function play(sides: Sides, part: Part, steps: number): Promise<void> {
  const { dice } = sides
  for (let step = 0; step < steps; step += 1) await dice.oneOf(dice.chance(0.2) ? part.looks : part.steps)()
  for (const look of part.looks) await look()
  await sides.sameContents(part)
}

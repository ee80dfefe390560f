// The cost of a write to an autocomplete index where it is written again: in the append-only file, and so on the way to
// each replica. The bytes are the same in every run.

import { Redis } from 'ioredis'
import { type Autocomplete, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../servers/redis.ts'

const TITLES = 1000
const ROUNDS = 40
/** The most bytes that an addition to texts that begin alike may write. */
const MOST_BYTES = 10_000
const alike = (at: number): string => `the long common beginning of every title ${at}`

let server: RedisServer
let client: Redis
let index: Autocomplete

beforeAll(async () => {
  server = await startRedis({ aof: 'no', args: ['--auto-aof-rewrite-percentage', '0'] })
  client = new Redis(server.port)
  index = perilune(ioredis(client), { namespace: 'bytes', deadline: '60s' }).autocomplete('titles')
  await index.addMany(Array.from({ length: TITLES }, (_, at) => titled(at, (at * 7919) % 1000)))
}, 120_000)

afterAll(async () => {
  client.disconnect()
  await server.stop()
})

function titled(at: number, score: number): { id: string; text: string; score: number } {
  return { id: `e${at}`, text: alike(at), score }
}

/** How much the file has grown by now. */
async function written(): Promise<number> {
  return Number(/aof_current_size:(\d+)/.exec(await client.info('persistence'))?.[1])
}

/** The most bytes that one of the calls has written. */
async function costliest(call: (round: number) => Promise<unknown>, rounds = ROUNDS): Promise<number> {
  let [most, before] = [0, await written()]
  for (let round = 0; round < rounds; round++) {
    await call(round)
    const after = await written()
    most = Math.max(most, after - before)
    before = after
  }
  return most
}

const add = (at: number, score: number): Promise<unknown> => index.addMany([titled(at, score)])

test.each<[string, (round: number) => Promise<unknown>]>([
  ['that comes first', (round) => add(10_000 + round, 5000 + round)],
  ['in the middle', (round) => add(20_000 + round, 500 + round)],
  ['that comes last', (round) => add(30_000 + round, -round)],
  ['again, with another score', (round) => add(7, 6000 + round)],
  ['again, from far behind to the front', (round) => add(500 + round, 7000 + round)],
  ['and nothing that is new', () => add(7, 6000 + ROUNDS)],
])('among a thousand titles that begin alike, adding one %s writes a few kilobytes', async (_, call) => {
  const most = await costliest(call)

  expect(most).toBeGreaterThan(100)
  expect(most).toBeLessThanOrEqual(MOST_BYTES)
})

test('among a thousand titles that begin alike, removing one writes a few kilobytes', async () => {
  const most = await costliest((round) => index.remove(`e${100 + round}`))

  expect(most).toBeLessThanOrEqual(MOST_BYTES)
})

test('among a thousand titles that begin alike, repeated removal of the best one writes a few kilobytes', async () => {
  const best = await index.suggest('title', { limit: 100 })

  const most = await costliest((round) => index.remove(best[round]?.id ?? ''), best.length)

  expect(most).toBeLessThanOrEqual(MOST_BYTES)
})

test('a hundred words that have little in common write as little', async () => {
  const words = Array.from(
    { length: 2000 },
    (_, at) => `${(at * 7919).toString(36)} ${(at * 104_729).toString(36)}`,
  )
  await index.addMany(words.map((text, score) => ({ text, score })))

  const most = await costliest((round) => index.add(`${words[round * 13]} again`, { score: 10_000 + round }))

  expect(most).toBeLessThanOrEqual(MOST_BYTES)
})

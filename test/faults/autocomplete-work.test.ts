// The work of one call on an index is bounded for any entries: here many begin alike, and each new one comes before all
// earlier ones.

import { Redis } from 'ioredis'
import { type Autocomplete, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { tell } from '../proof.ts'
import { ask } from '../servers/ask.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { METER, type Metered, metering, parseMetered } from './metered-driver.ts'

// Each in one place of the order of bytes.
const LETTERS = Array.from({ length: 60 }, (_, at) => String.fromCharCode(0x4e00 + at))

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

beforeEach(() => ask(server.port, 'FLUSHALL'))

afterAll(() => server.stop())

test('removing the first of many entries that begin alike reads little of the entries after them', async () => {
  const { index, calls } = open()
  const texts = LETTERS.flatMap((letter) => numbered(`q${letter}`, 150))
  await fill(index, texts)

  for (const text of texts.toReversed().slice(0, 200)) await index.remove(text)

  const most = Math.max(...(await calls('autocomplete/remove')).map(({ bytes }) => bytes))
  tell(`${most} bytes at most`)
  expect(most).toBeLessThan(100_000)
})

test('a query with an edit reads little of prefixes that many entries share', async () => {
  const { index, calls } = open()
  const query = 'abcdefghij'
  const others = query
    .split('')
    .flatMap((_, at) => LETTERS.map((letter) => query.slice(0, at) + letter + query.slice(at + 1)))
  await fill(
    index,
    others.flatMap((other) => numbered(other, 40)),
  )

  expect(await index.suggest(query, { fuzzy: true })).toHaveLength(10)

  const [{ bytes, elements } = { bytes: 0, elements: 0 }] = await calls('autocomplete/suggest')
  tell(`${bytes} bytes, ${elements} elements`)
  expect(bytes).toBeLessThan(600_000)
  expect(elements).toBeLessThan(30_000)
})

function open(): { index: Autocomplete; calls: (script: string) => Promise<Metered[]> } {
  const client = new Redis(server.port)
  const redis = perilune(metering(ioredis(client)), { namespace: 'work', deadline: '60s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const calls = async (script: string): Promise<Metered[]> =>
    (await client.lrange(METER, 0, -1)).map(parseMetered).filter((each) => each.script === script)
  return { index: redis.autocomplete('work'), calls }
}

/** The later ones come first. */
async function fill(index: Autocomplete, texts: readonly string[]): Promise<void> {
  const entries = texts.map((text, score) => ({ text, score }))
  for (let from = 0; from < entries.length; from += 1000)
    await index.addMany(entries.slice(from, from + 1000))
}

function numbered(beginning: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${beginning}${String(at).padStart(3, '0')}`)
}

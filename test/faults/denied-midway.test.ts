// A command in the middle of a script is denied temporarily: the call fails, and the stored data is as before, or
// complete once it is called again.

import Database from 'libsql'
import type { Autocomplete, Catalog, CatalogEntry, RateLimit } from 'perilune'
import { sqlite } from 'perilune/sqlite'
import { describe, expect, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import type { Kind } from '../../src/collection/forms.ts'
import { setup } from '../denied-fixture.ts'

test.each(contract.structures.catalog.commands)(
  'without %s each name of a catalog keeps its document',
  async (command) => {
    const { redis, name, without } = await setup()
    const changes: Record<string, (catalog: Catalog<string>) => Promise<unknown>> = {
      put: (catalog) => catalog.put('new', 'first'),
      update: (catalog) => catalog.update('old', (document) => `${document}, changed`),
      remove: (catalog) => catalog.remove('old'),
    }
    for (const [word, change] of Object.entries(changes)) {
      const catalog = redis.catalog<string>(`${name} ${word}`)
      await catalog.put('old', 'document')

      const wasRefused = await without(command, () => change(catalog))

      const { entries, total } = await catalog.list()
      expect(entries.map((entry) => entry.document)).toEqual(wasRefused ? ['document'] : expect.anything())
      expect([total, await catalog.get('new')]).toEqual([entries.length, documentOf(entries, 'new')])
      if (wasRefused) await change(catalog)
      await catalog.remove('old')
      await catalog.remove('new')
      expect(await catalog.list()).toMatchObject({ entries: [], total: 0 })
    }
  },
)

function documentOf(entries: readonly CatalogEntry<string>[], name: string): string | null {
  return entries.find((entry) => entry.name === name)?.document ?? null
}

const SEARCHES = ['zrangebylex', 'zrevrangebylex', 'zlexcount', 'zrangebyscore', 'zcount']

describe.each(['hset', 'hdel', 'hget', 'hmget', 'zadd', 'zrem', ...SEARCHES])('without %s', (command) => {
  test('a change of an index is all or nothing', async () => {
    const { redis, name, without } = await setup()
    const index = redis.autocomplete(name)
    const texts = Array.from({ length: 60 }, (_, n) => `alpha ${n}`)
    await index.addMany(texts.map((text, score) => ({ text, score })))
    const changes: ((index: Autocomplete) => Promise<unknown>)[] = [
      () => index.add('alpha new', { score: 100 }),
      () => index.add('alpha other', { id: 'alpha 59', score: 200 }),
      () => index.remove('alpha 58'),
    ]

    for (const change of changes) {
      await without(command, () => change(index))
      await index.suggest('alpha')
      await change(index)
    }

    const found = await index.suggest('alpha', { limit: 100 })
    const left = texts.slice(0, 58).toReversed()
    expect(found.map(({ text }) => text)).toEqual(['alpha other', 'alpha new', ...left])
  })
})

describe.each<Kind>(['list', 'set', 'hash', 'sortedSet'])('a %s', (kind) => {
  test.each([3, 1500])('of %i items never has those of an older version', async (count) => {
    const { redis, name, without } = await setup()
    const items = (word: string): unknown[] =>
      Array.from({ length: count }, (_, n) => itemOf(kind, `${word} ${n}`, n))
    for (const command of ['unlink', 'hset', 'pexpire', 'rename', 'hdel']) {
      const collection = redis.collection(`${name} ${command}`, { kind: kind as 'list' })
      await collection.replace(items('old'), { version: 1 })

      await without(command, () => collection.replace(items('new'), { version: 2 }))
      await collection.replace(items('new'), { version: 2 })

      const page = await collection.read()
      expect(page).toMatchObject({ status: 'page', version: 2, size: count })
      expect(JSON.stringify(page)).not.toContain('old')
    }
  })
})

test.each(['hincrby', 'hlen', 'hmget', 'hset', 'persist', 'zrem'])(
  'without %s nothing is counted',
  async (command) => {
    const { redis, name, without } = await setup()
    const database = new Database(':memory:')
    database.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, votes INTEGER NOT NULL DEFAULT 0)')
    const sink = sqlite(database, { table: 'items', value: 'votes' })
    const counters = redis.counters(name, { sink, fsyncGrace: '0s' })
    await counters.get(1)

    if (await without(command, () => counters.increment(1, 5))) await counters.increment(1, 5)

    expect(await counters.get(1)).toBe(5)
    await counters.flush()
    expect(database.prepare('SELECT votes FROM items').get()).toMatchObject({ votes: 5 })
  },
)

test('an expired result is not replayed, though it could not be removed', async () => {
  const { redis, name, without } = await setup()
  const once = redis.once<string>(name, { resultTtl: '1ms' })
  await once.run('key', () => 'first')
  await expect.poll(async () => once.get('key')).toBeNull()

  expect(await without('hdel', () => once.run('key', () => 'second'))).toBe(true)

  expect(await once.run('key', () => 'third')).toBe('third')
})

test('a take stays counted when a place or a unit could not be given back', async () => {
  const { redis, name, without } = await setup()
  const limits = {
    places: { limit: 3, algorithm: 'concurrency' },
    units: { limit: 3, window: '1h' },
  } as const
  const limiter = redis.rateLimit(name, { limits })
  const token = await taken(limiter)
  await taken(limiter)

  expect(await without('hset', () => limiter.release('ada', token))).toBe(true)
  expect(await without('hset', () => limiter.refund('ada', { token }))).toBe(true)
  expect(await remaining(limiter)).toEqual([1, 1])

  await limiter.release('ada', token)
  await limiter.refund('ada', { token })
  expect(await remaining(limiter)).toEqual([2, 2])
})

async function taken(limiter: RateLimit): Promise<number> {
  const decision = await limiter.take('ada')
  if (decision.outage || !decision.allowed) throw new Error('denied')
  return decision.token
}

async function remaining(limiter: RateLimit): Promise<number[]> {
  const { limits } = await limiter.inspect('ada')
  return Object.values(limits).map((limit) => limit.remaining)
}

function itemOf(kind: Kind, value: string, n: number): unknown {
  if (kind === 'hash') return [`field ${n}`, value]
  return kind === 'sortedSet' ? [value, n] : value
}

test('a load whose election was cut off halfway keeps no waiter for the length of its lease', async () => {
  const { redis, name, without } = await setup()
  const cache = redis.cache<string>(name, { lease: '1h' })

  expect(await without('pexpire', () => cache.get('key', () => 'first'))).toBe(true)

  await expect.poll(async () => (await cache.inspect('key')).load).toBeNull()
})

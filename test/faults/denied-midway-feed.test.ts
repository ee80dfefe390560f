// A command that a call of a feed meets in its middle is denied for a moment: the call is refused before anything has
// changed. Then every message is met once by those who work, and nothing of it is left.

import type { Feed } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../denied-fixture.ts'

interface Case {
  readonly options?: { maxClaims?: number; retention?: number }
  /** Commands besides, without which most calls cannot be whole (docs/decisions/0094-rights-of-a-feed.md). */
  readonly also?: readonly string[]
  /** The preparation; its result is passed to the call. */
  prepare(feed: Feed<string>): Promise<unknown>
  call(feed: Feed<string>, given: never): Promise<unknown>
  /** What consumers get in the end, and which messages are dead by then. */
  readonly left: string
  readonly dead?: string
}

const passes = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const SHORT = { limit: 2, lease: '10ms' } as const
const appendAll = (feed: Feed<string>, words: string): Promise<unknown> =>
  feed.appendMany(words.split('').map((body) => ({ body })))

async function delay(feed: Feed<string>, words: string): Promise<void> {
  for (const word of words) await feed.append(word, { delay: '1ms' })
  await passes(10)
}

type Claimed = NonNullable<Awaited<ReturnType<Feed<string>['claim']>>>

const cases: Record<string, Case> = {
  'an append': { prepare: (feed) => appendAll(feed, 'a'), call: (feed) => feed.append('b'), left: 'ab' },
  'an append beside others that have expired': {
    async prepare(feed) {
      await appendAll(feed, 'ab')
      await feed.append('x', { ttl: '5ms' })
      await feed.append('y', { ttl: '7ms' })
      await passes(15)
    },
    call: (feed) => feed.append('c'),
    left: 'abc',
  },
  'an append that removes the oldest': {
    options: { retention: 2 },
    prepare: (feed) => appendAll(feed, 'ab'),
    call: (feed) => feed.append('c'),
    left: 'bc',
  },
  'an append of messages with keys, delays and lives of their own': {
    prepare: (feed) => appendAll(feed, 'a'),
    call: (feed) =>
      feed.appendMany([
        { body: 'b' },
        { body: 'c', idempotencyKey: 'key' },
        { body: 'd', delay: '1ms' },
        { body: 'e', ttl: '1h' },
        { body: 'f', ttl: '2h' },
      ]),
    left: 'abcdef',
  },
  'an append behind delayed ones, with a bound': {
    options: { retention: 9 },
    also: ['hset'],
    prepare: (feed) => delay(feed, 'ab'),
    call: (feed) => feed.append('c'),
    left: 'abc',
  },
  'an append behind delayed ones': {
    also: ['hset', 'xadd'],
    prepare: (feed) => delay(feed, 'ab'),
    call: (feed) => feed.append('c'),
    left: 'abc',
  },
  'a page behind delayed ones': {
    also: ['hset', 'xadd'],
    prepare: (feed) => delay(feed, 'abc'),
    call: (feed) => feed.read(),
    left: 'abc',
  },
  'a claim': {
    prepare: (feed) => appendAll(feed, 'abc'),
    call: (feed) => feed.claim(SHORT),
    left: 'abc',
  },
  'a claim behind delayed ones': {
    prepare: (feed) => delay(feed, 'abc'),
    call: (feed) => feed.claim(SHORT),
    left: 'abc',
  },
  'a claim behind one that has expired': {
    async prepare(feed) {
      await feed.append('x', { ttl: '5ms' })
      await appendAll(feed, 'abc')
      await passes(10)
    },
    call: (feed) => feed.claim(SHORT),
    left: 'abc',
  },
  'a claim behind one that has lapsed': {
    async prepare(feed) {
      await appendAll(feed, 'abc')
      await feed.claim(SHORT)
      await passes(20)
    },
    call: (feed) => feed.claim(SHORT),
    left: 'abc',
  },
  'a claim of what has been claimed as often as allowed': {
    options: { maxClaims: 1 },
    async prepare(feed) {
      await appendAll(feed, 'abc')
      await (await feed.claim())?.release()
    },
    call: (feed) => feed.claim(),
    left: '',
    dead: 'abc',
  },
  'a release': {
    async prepare(feed) {
      await appendAll(feed, 'abc')
      return feed.claim({ limit: 2 })
    },
    call: (_, claim: Claimed) => claim.release(),
    left: 'abc',
  },
  'an extension': {
    async prepare(feed) {
      await appendAll(feed, 'abc')
      return feed.claim({ limit: 2 })
    },
    call: (_, claim: Claimed) => claim.extend('10ms'),
    left: 'abc',
  },
  'an ack': {
    async prepare(feed) {
      await appendAll(feed, 'abc')
      return feed.claim({ limit: 2 })
    },
    call: (_, claim: Claimed) => claim.ack(),
    left: 'c',
  },
  'an ack of one message': {
    async prepare(feed) {
      await appendAll(feed, 'abc')
      return feed.claim({ limit: 2 })
    },
    async call(_, claim: Claimed) {
      await claim.ack([claim.messages[0]?.id ?? ''])
      await claim.release()
    },
    left: 'bc',
  },
  'a removal': {
    async prepare(feed) {
      await appendAll(feed, 'abc')
      return (await feed.read()).messages[0]?.id
    },
    call: (feed, id: string) => feed.remove([id]),
    left: 'bc',
  },
}

const READS = [
  'exists',
  'hget',
  'hlen',
  'hmget',
  'xlen',
  'xrange',
  'zcount',
  'zrange',
  'zrangebyscore',
  'zscore',
]
const WRITES = ['hdel', 'xdel', 'zadd', 'zrem']

test.each(Object.entries(cases))('%s is done as a whole, or not at all', async (_, asked) => {
  const { options, also = [], prepare, call, left, dead = '' } = asked
  const { redis, name, without } = await setup()
  for (const command of [...READS, ...WRITES, ...also]) {
    const feed = redis.feed<string>(`${name} ${command}`, options)
    const given = (await prepare(feed)) as never

    if (await without(command, () => call(feed, given))) await call(feed, given)

    await passes(20)
    const met = await workOn(feed)
    const letters = (await feed.deadLetters.read()).messages.map(({ body }) => body)
    expect([command, met.toSorted().join(''), letters.join('')]).toEqual([command, left, dead])
    expect(await feed.inspect()).toMatchObject({ total: 0, bytes: 0, claimed: 0, claims: 0 })
  }
})

/** All that is free. */
async function workOn(feed: Feed<string>): Promise<string[]> {
  const met: string[] = []
  for (let claim = await feed.claim(); claim !== null; claim = await feed.claim()) {
    met.push(...claim.messages.map(({ body }) => body))
    await claim.ack()
  }
  return met
}

test('a log full of holes is not rewritten when the last command of the rewrite is forbidden', async () => {
  const { redis, name, without } = await setup()
  const feed = redis.feed<string>(name)
  const kept: string[] = []

  await without('rename', async () => {
    for (let round = 0; round < 24; round += 1) {
      const appended = await feed.appendMany(Array.from({ length: 500 }, () => ({ body: 'x'.repeat(100) })))
      const ids = appended.map(({ id }) => id)
      kept.push(ids[0] ?? '')
      await feed.remove(ids.slice(1))
    }
  })

  expect((await feed.get(kept)).messages).toHaveLength(kept.length)
  expect((await feed.inspect()).total).toBe(kept.length)
})

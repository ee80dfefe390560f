// What a user of several structures relies on: a word means the same in each of them.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import {
  type Duration,
  InvalidArgumentError,
  LeaseLostError,
  type Perilune,
  perilune,
  rateLimitHeaders,
  WaitTimeoutError,
} from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { withIdempotency, withRateLimit } from 'perilune/middleware'
import { describe, expect, inject, onTestFinished, test } from 'vitest'

function setup(): { redis: Perilune; name: string } {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace: 'side-by-side' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, name: randomUUID() }
}

/** The argument that a call refuses, whether it throws at once or later; null when it refuses none. */
async function refusedBy(call: () => unknown): Promise<string | null> {
  try {
    await call()
    return null
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error.argument
    throw error
  }
}

type Call<Value> = (redis: Perilune, value: Value) => unknown
const PLACES = { algorithm: 'concurrency', limit: 1 } as const

describe('a token is a whole number from 1 on', () => {
  const calls: [string, Call<number>][] = [
    ['lock.release', (redis, token) => redis.lock('a').release(token)],
    ['lock.extend', (redis, token) => redis.lock('a').extend(token, '1m')],
    ['lock.shared.release', (redis, token) => redis.lock('a').shared.release(token)],
    ['semaphore.release', (redis, token) => redis.semaphore('a', { limit: 1 }).release(token)],
    ['semaphore.extend', (redis, token) => redis.semaphore('a', { limit: 1 }).extend(token, '1m')],
    ['fenced.set', (redis, token) => redis.fenced('a').set(1, token)],
    ['once.complete', (redis, token) => redis.once('a').complete('k', token, 1)],
    ['once.extend', (redis, token) => redis.once('a').extend('k', token, '1m')],
    ['once.release', (redis, token) => redis.once('a').release('k', token)],
    ['feed.ack', (redis, token) => redis.feed('a').ack(token)],
    ['feed.extend', (redis, token) => redis.feed('a').extend(token, '1m')],
    ['feed.release', (redis, token) => redis.feed('a').release(token)],
    ['feed.findClaim', (redis, token) => redis.feed('a').findClaim(token)],
    ['partitionedFeed.findClaim', (redis, token) => redis.partitionedFeed('a').findClaim(0, token)],
    ['rateLimit.release', (redis, token) => redis.rateLimit('a', PLACES).release('ada', token)],
    ['rateLimit.refund', (redis, token) => redis.rateLimit('a', PLACES).refund('ada', { token })],
  ]

  test.each(calls)('%s', async (_, call) => {
    const { redis } = setup()
    for (const token of [0, -1, 1.5, 2 ** 53]) expect(await refusedBy(() => call(redis, token))).toBe('token')
  })
})

describe('a lease lasts 10 ms to 30 days', () => {
  const calls: [string, Call<Duration>][] = [
    ['lock', (redis, lease) => redis.lock('a', { lease })],
    ['lock.extend', (redis, lease) => redis.lock('a').extend(1, lease)],
    ['locks', (redis, lease) => redis.locks(['a', 'b'], { lease })],
    ['election', (redis, lease) => redis.election('a', { lease })],
    ['semaphore', (redis, lease) => redis.semaphore('a', { limit: 1, lease })],
    ['semaphore.extend', (redis, lease) => redis.semaphore('a', { limit: 1 }).extend(1, lease)],
    ['once', (redis, lease) => redis.once('a', { lease })],
    ['once.extend', (redis, lease) => redis.once('a').extend('k', 1, lease)],
    ['feed.claim', (redis, lease) => redis.feed('a').claim({ lease })],
    ['feed.extend', (redis, lease) => redis.feed('a').extend(1, lease)],
    ['partitionedFeed.claim', (redis, lease) => redis.partitionedFeed('a').claim({ lease })],
    ['rateLimit', (redis, lease) => redis.rateLimit('a', { limits: { b: { ...PLACES, lease } } })],
  ]

  test.each(calls)('%s', async (_, call) => {
    const { redis } = setup()
    for (const lease of ['9ms', '31d'] as const) {
      expect(await refusedBy(() => call(redis, lease))).toMatch(/(^|\.)lease$/)
    }
  })
})

describe('an option of a wrong value is named by itself', () => {
  const calls: [string, string, (redis: Perilune) => unknown][] = [
    ['lock', 'order', (redis) => redis.lock('a', { order: 'odd' as 'fair' })],
    ['semaphore', 'limit', (redis) => redis.semaphore('a', { limit: 0 })],
    ['rateLimit', 'limit', (redis) => redis.rateLimit('a', { limit: 0, window: '1s' })],
    ['rateLimit', 'lease', (redis) => redis.rateLimit('a', { ...PLACES, lease: '0s' })],
    [
      'rateLimit',
      'limits.b.limit',
      (redis) => redis.rateLimit('a', { limits: { b: { ...PLACES, limit: 0 } } }),
    ],
    ['feed', 'keep.count', (redis) => redis.feed('a', { keep: 0 })],
    ['once', 'keep', (redis) => redis.once('a', { keep: '0s' })],
    ['feed.read', 'limit', (redis) => redis.feed('a').read({ limit: 0 })],
    ['lock.acquire', 'wait', (redis) => redis.lock('a').acquire({ wait: '2h' })],
    ['once.run', 'wait', (redis) => redis.once('a').run('k', () => 1, { wait: '2h' })],
  ]

  test.each(calls)('%s: %s', async (_, argument, call) => {
    const { redis } = setup()
    expect(await refusedBy(() => call(redis))).toBe(argument)
  })
})

describe('an option that is not known is named, wherever it stands', () => {
  const odd = { odd: 1 } as object
  const calls: [string, (redis: Perilune) => unknown][] = [
    ['perilune', () => perilune({} as never, odd)],
    ['feed', (redis) => redis.feed('a', odd)],
    ['feed.append', (redis) => redis.feed('a').append(1, odd)],
    ['feed.read', (redis) => redis.feed('a').read(odd)],
    ['feed.tail', (redis) => redis.feed('a').tail(odd).next()],
    ['feed.remove', (redis) => redis.feed('a').remove([], odd)],
    ['feed.claim', (redis) => redis.feed('a').claim(odd)],
    ['feed.extend', (redis) => redis.feed('a').extend(1, '1m', odd)],
    ['feed.take', (redis) => redis.feed('a').take(odd)],
    ['feed.subscriber', (redis) => redis.feed('a').subscriber('b', odd)],
    ['subscriber.advance', (redis) => redis.feed('a').subscriber('b').advance('1-1', odd)],
    ['subscriber.page', (redis) => redis.feed('a').subscriber('b').page(odd)],
    ['subscriber.read', (redis) => redis.feed('a').subscriber('b').read(odd).next()],
    ['partitionedFeed', (redis) => redis.partitionedFeed('a', odd)],
    ['partitionedFeed.append', (redis) => redis.partitionedFeed('a').append(1, odd)],
    ['partitionedFeed.read', (redis) => redis.partitionedFeed('a').read(odd)],
    ['partitionedFeed.remove', (redis) => redis.partitionedFeed('a').remove([], odd)],
    ['partitionedFeed.claim', (redis) => redis.partitionedFeed('a').claim(odd)],
    ['partitionedFeed.take', (redis) => redis.partitionedFeed('a').take(odd)],
    ['catalog.list', (redis) => redis.catalog('a').list(odd)],
    ['lock', (redis) => redis.lock('a', odd)],
    ['lock.acquire', (redis) => redis.lock('a').acquire(odd)],
    ['lock.run', (redis) => redis.lock('a').run(() => 1, odd)],
    ['lock.lend', (redis) => redis.lock('a').lend(odd)],
    ['locks', (redis) => redis.locks(['a'], odd)],
    ['locks.acquire', (redis) => redis.locks(['a']).acquire(odd)],
    ['election', (redis) => redis.election('a', odd)],
    ['election.campaign', (redis) => redis.election('a').campaign(() => undefined, odd)],
    ['fenced', (redis) => redis.fenced('a', odd)],
    ['semaphore', (redis) => redis.semaphore('a', { limit: 1, ...odd })],
    ['semaphore.tryAcquire', (redis) => redis.semaphore('a', { limit: 1 }).tryAcquire(odd)],
    ['semaphore.acquire', (redis) => redis.semaphore('a', { limit: 1 }).acquire(odd)],
    ['semaphore.lend', (redis) => redis.semaphore('a', { limit: 1 }).lend(odd)],
    ['once', (redis) => redis.once('a', odd)],
    ['once.run', (redis) => redis.once('a').run('k', () => 1, odd)],
    ['once.begin', (redis) => redis.once('a').begin('k', odd)],
    ['once.lend', (redis) => redis.once('a').lend('k', odd)],
    ['rateLimit', (redis) => redis.rateLimit('a', { ...PLACES, ...odd })],
    ['rateLimit.take', (redis) => redis.rateLimit('a', PLACES).take('ada', odd)],
    ['rateLimit.peek', (redis) => redis.rateLimit('a', PLACES).peek('ada', odd)],
    ['rateLimit.refund', (redis) => redis.rateLimit('a', PLACES).refund('ada', odd)],
    ['rateLimitHeaders', () => rateLimitHeaders({ allowed: true, outage: true } as never, odd)],
    [
      'withRateLimit',
      (redis) =>
        withRateLimit(redis.rateLimit('a', PLACES), { subject: () => 'ada', ...odd }, () => new Response()),
    ],
    ['withIdempotency', (redis) => withIdempotency(redis.once('a'), odd, () => new Response())],
  ]

  test.each(calls)('%s', async (_, call) => {
    const { redis } = setup()
    expect(await refusedBy(() => call(redis))).toBe('options.odd')
  })

  test('what would not be looked at is not known: a take has no lease, an election no order', async () => {
    const { redis } = setup()
    const [lease, order] = [{ lease: '1m' } as object, { order: 'barging' } as object]
    expect(await refusedBy(() => redis.feed('a').take(lease))).toBe('options.lease')
    expect(await refusedBy(() => redis.partitionedFeed('a').take(lease))).toBe('options.lease')
    expect(await refusedBy(() => redis.election('a', order))).toBe('options.order')
  })
})

test("with a maxHold of '0s' nobody but its owner extends a lease", async () => {
  const { redis, name } = setup()
  const terms = { lease: '60ms', maxHold: '0s' } as const
  const begun = await redis.once(name, terms).begin('k')
  const leases = [
    await redis.lock(name, terms).acquire(),
    await redis.semaphore(name, { limit: 1, ...terms }).acquire(),
    ...(begun.status === 'started' ? [begun.attempt] : []),
  ]

  expect(leases).toHaveLength(3)
  await Promise.all(
    leases.map(({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve))),
  )
  for (const lease of leases) await expect(lease.extend()).rejects.toMatchObject({ code: 'lease-lost' })
})

/** What a call throws. */
const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => null,
    (error: unknown) => error,
  )

test('an error names the structure, its name and what it was about', async () => {
  const { redis, name } = setup()
  const wait = '20ms'
  const [lock, semaphore] = [redis.lock(name), redis.semaphore(name, { limit: 1 })]
  const [once, feed] = [redis.once(name), redis.feed(name)]
  const begun = await once.begin('k')
  await using _lock = await lock.acquire()
  await using _permit = await semaphore.acquire()
  await using _attempt = begun.status === 'started' ? begun.attempt : undefined

  const timeouts = [
    await errorOf(lock.acquire({ wait })),
    await errorOf(lock.shared.acquire({ wait })),
    await errorOf(redis.locks(['a', name]).acquire({ wait })),
    await errorOf(semaphore.acquire({ wait })),
    await errorOf(once.run('k', () => 1, { wait })),
    await errorOf(lock.acquire()),
  ]
  const losses = [
    await errorOf(lock.release(1)),
    await errorOf(semaphore.release(1)),
    await errorOf(once.complete('k', 1, 'late')),
    await errorOf(feed.ack(1)),
    await errorOf(redis.rateLimit(name, PLACES).release('ada', 1)),
  ]

  expect(timeouts.filter((error) => !(error instanceof WaitTimeoutError))).toEqual([])
  expect(timeouts.map((error) => (error as Error).message)).toEqual([
    `lock '${name}' was not free within 20ms`,
    `lock '${name}' was not free within 20ms`,
    `lock '${name}' was not free within 20ms`,
    `semaphore '${name}' was not free within 20ms`,
    `key 'k' of once '${name}' was not free within 20ms`,
    `lock '${name}' was not free within one attempt`,
  ])
  expect(losses.filter((error) => !(error instanceof LeaseLostError))).toEqual([])
  expect(losses.map((error) => (error as LeaseLostError).resource)).toEqual([
    `lock '${name}'`,
    `semaphore '${name}'`,
    `key 'k' of once '${name}'`,
    `claim of feed '${name}'`,
    `place of subject 'ada' of rate limit '${name}'`,
  ])
})

describe('clear answers whether there was something', () => {
  type Clear = () => Promise<boolean>
  const made: [string, (redis: Perilune, name: string) => Promise<Clear>][] = [
    [
      'feed',
      async (redis, name) => {
        await redis.feed(name).append(1)
        return () => redis.feed(name).clear()
      },
    ],
    [
      'partitionedFeed',
      async (redis, name) => {
        await redis.partitionedFeed(name, { partitions: 2 }).append(1)
        return () => redis.partitionedFeed(name, { partitions: 2 }).clear()
      },
    ],
    [
      'lock',
      async (redis, name) => {
        await redis.lock(name).lend()
        return () => redis.lock(name).clear()
      },
    ],
    [
      'semaphore',
      async (redis, name) => {
        await redis.semaphore(name, { limit: 1 }).lend()
        return () => redis.semaphore(name, { limit: 1 }).clear()
      },
    ],
    [
      'once',
      async (redis, name) => {
        await redis.once(name).lend('k')
        return () => redis.once(name).clear('k')
      },
    ],
    [
      'rateLimit',
      async (redis, name) => {
        await redis.rateLimit(name, PLACES).take('ada')
        return () => redis.rateLimit(name, PLACES).clear('ada')
      },
    ],
  ]

  test.each(made)('%s', async (_, make) => {
    const { redis, name } = setup()
    const clear = await make(redis, name)
    expect([await clear(), await clear()]).toEqual([true, false])
  })
})

describe("the caller's signal ends the waiting, and then aborts that of the task", () => {
  type Task = (context: { signal: AbortSignal }) => Promise<void>
  type Run = (task: Task, options: { wait: Duration; signal: AbortSignal }) => Promise<unknown>
  const runs: [string, (redis: Perilune, name: string) => Run][] = [
    ['lock', (redis, name) => (task, options) => redis.lock(name).run(task, options)],
    ['lock.shared', (redis, name) => (task, options) => redis.lock(name).shared.run(task, options)],
    ['locks', (redis, name) => (task, options) => redis.locks([name]).run(task, options)],
    ['semaphore', (redis, name) => (task, options) => redis.semaphore(name, { limit: 1 }).run(task, options)],
    ['once', (redis, name) => (task, options) => redis.once(name).run('k', task, options)],
    [
      'lock, held already',
      (redis, name) => async (task, options) => {
        await using held = await redis.lock(name).acquire()
        await redis.lock(name).run(task, { ...options, held })
      },
    ],
  ]

  test.each(runs)('%s', async (_, runOf) => {
    const { redis, name } = setup()
    const run = runOf(redis, name)
    const caller = new AbortController()
    const reason = new Error('shutting down')
    let told: unknown = null
    const task: Task = async ({ signal }) => {
      caller.abort(reason)
      told = signal.aborted && signal.reason
    }

    await run(task, { wait: '20s', signal: caller.signal })

    expect(told).toBe(reason)
    await expect(run(task, { wait: '20s', signal: caller.signal })).rejects.toBe(reason)
  })
})

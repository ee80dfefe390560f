// A user of several structures relies on this: leases, errors, signals and clear mean the same in each of them.

import {
  type Duration,
  type Feed,
  type JobLease,
  LeaseLostError,
  type Perilune,
  WaitTimeoutError,
} from 'perilune'
import { describe, expect, test } from 'vitest'
import { errorOf, PLACES, setup } from './fixture.ts'

test("with a maxHold of '0s' only its owner extends a lease", async () => {
  const { redis, name } = setup()
  const terms = { lease: '900ms', maxHold: '0s' } as const
  const begun = await redis.once(name, terms).begin('k')
  const leases = [
    await redis.lock(name, terms).acquire(),
    await redis.semaphore(name, { limit: 1, ...terms }).acquire(),
    ...(begun.status === 'started' ? [begun.attempt] : []),
  ]

  expect(leases).toHaveLength(3)
  await Promise.all(leases.map(({ signal }) => aborted(signal)))
  for (const lease of leases) await expect(lease.extend()).rejects.toMatchObject({ code: 'lease-lost' })
})

test('an error names the structure, its name and the element', async () => {
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
    await errorOf(lock.byToken.release(1)),
    await errorOf(semaphore.byToken.release(1)),
    await errorOf(once.byToken.complete('k', 1, 'late')),
    await errorOf(lostClaim(feed)),
    await errorOf(redis.rateLimit(name, PLACES).release('ada', 1)),
  ]

  expect(timeouts.filter((error) => !(error instanceof WaitTimeoutError))).toEqual([])
  expect(timeouts.map((error) => (error as Error).message)).toEqual([
    `lock '${name}' was not obtained in 20ms`,
    `lock '${name}' was not obtained in 20ms`,
    `lock '${name}' was not obtained in 20ms`,
    `semaphore '${name}' was not obtained in 20ms`,
    `key 'k' of once '${name}' was not obtained in 20ms`,
    `lock '${name}' was not obtained in one attempt`,
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

/** The ack of a claim whose messages have been removed. */
async function lostClaim(feed: Feed<unknown>): Promise<unknown> {
  await feed.append(1)
  const claim = await feed.claim()
  await feed.clear()
  return claim?.ack()
}

describe('a caller that knows only tokens settles many at once, each judged separately, in a feed as in a queue', () => {
  const lost = expect.objectContaining({ outcome: 'lost' })

  test('feed', async () => {
    const { redis, name } = setup()
    const feed = redis.feed(name)
    await feed.appendMany([{ body: 1 }, { body: 2 }])
    const claims = [await feed.claim({ limit: 1 }), await feed.claim({ limit: 1 })]
    const [a, b] = claims.map((claim) => ({ token: claim?.token ?? 0 })) as [
      { token: number },
      { token: number },
    ]
    const strange = { token: 1 }

    const extended = await feed.byToken.extend([a, strange], '1m')
    expect([extended.leaseMs, extended.claims]).toEqual([60_000, [{ outcome: 'extended' }, lost]])
    expect(await feed.byToken.release([strange, a])).toEqual([lost, { outcome: 'released' }])
    expect(await feed.byToken.ack([a, b])).toEqual([lost, { outcome: 'acked', refused: [] }])
  })

  test('queue', async () => {
    const { redis, name } = setup()
    const queue = redis.queue(name)
    await queue.enqueueMany([
      { name: 'a', payload: 1 },
      { name: 'b', payload: 1 },
    ])
    const [a, b] = (await queue.claim({ limit: 2 })).map(({ id, token }) => ({ id, token })) as [
      JobLease,
      JobLease,
    ]
    const strange = { ...a, token: 1 }

    const extended = await queue.byToken.extend([a, strange], '1m')
    expect([extended.leaseMs, extended.jobs]).toEqual([60_000, [{ outcome: 'extended' }, lost]])
    expect(await queue.byToken.release([strange, a])).toEqual([lost, { outcome: 'released' }])
    expect(await queue.byToken.ack([a, b])).toEqual([lost, { outcome: 'acked' }])
  })
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
      'feed in partitions',
      async (redis, name) => {
        await redis.feed(name, { partitions: 2 }).append(1)
        return () => redis.feed(name, { partitions: 2 }).clear()
      },
    ],
    [
      'lock',
      async (redis, name) => {
        await redis.lock(name).acquireDetached()
        return () => redis.lock(name).clear()
      },
    ],
    [
      'semaphore',
      async (redis, name) => {
        await redis.semaphore(name, { limit: 1 }).acquireDetached()
        return () => redis.semaphore(name, { limit: 1 }).clear()
      },
    ],
    [
      'once',
      async (redis, name) => {
        await redis.once(name).beginDetached('k')
        return () => redis.once(name).clear('k')
      },
    ],
    [
      'queue',
      async (redis, name) => {
        await redis.queue(name).enqueue('a', 1)
        return () => redis.queue(name).clear()
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
    let seen: unknown = null
    const task: Task = async ({ signal }) => {
      caller.abort(reason)
      seen = signal.aborted && signal.reason
    }

    await run(task, { wait: '20s', signal: caller.signal })

    expect(seen).toBe(reason)
    await expect(run(task, { wait: '20s', signal: caller.signal })).rejects.toBe(reason)
  })
})

/** Resolves once the signal has aborted, which it may have before anybody listens. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

// What closing an instance does to calls, leases and the driver. For whole processes: test/faults/closing.test.ts.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Driver, type Lease, LeaseLostError, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { startProxy } from '../../../test/servers/proxy.ts'

const NAMESPACE = 'closing-test'
const CLOSED = expect.objectContaining({ name: 'DriverError', code: 'closed' })

interface Gate {
  /** Holds back the answers of this script. Resolves to a function that releases them, once there is one. */
  hold(script: string): Promise<() => void>
  /** Names of the sent scripts. */
  readonly calls: string[]
}

/** The driver, with answers that can be held back. */
function gated(driver: Driver): { driver: Driver } & Gate {
  const calls: string[] = []
  const held = new Map<string, { caught(open: () => void): void }>()
  const run: Driver['run'] = async (call) => {
    if (call.send === 'hash') calls.push(call.script.name)
    const reply = await driver.run(call)
    const bait = held.get(call.script.name)
    if (bait === undefined) return reply
    await new Promise<void>((open) => bait.caught(open))
    return reply
  }
  const hold = (script: string) => new Promise<() => void>((caught) => held.set(script, { caught }))
  return { driver: Object.assign(Object.create(driver) as Driver, bound(driver), { run }), hold, calls }
}

/** Binds the methods of a driver to it. */
function bound(driver: Driver): Partial<Driver> {
  return {
    read: (calls) => driver.read(calls),
    info: () => driver.info(),
    close: () => driver.close(),
    healthy: () => driver.healthy(),
    load: (script) => driver.load(script),
    subscribe: (...args) => driver.subscribe(...args),
  }
}

interface Setup extends Gate {
  readonly redis: Perilune
  readonly driver: Driver
  readonly client: Redis
  readonly name: string
}

function setup(port = inject('redisPort')): Setup {
  const client = new Redis(port)
  client.on('error', () => undefined)
  const gate = gated(ioredis(client))
  const redis = perilune(gate.driver, { namespace: NAMESPACE, deadline: '9m' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { ...gate, redis, client, name: randomUUID() }
}

describe('calls', () => {
  test('under way settle at once: a sent write is ambiguous, a read or an unsent call did not happen', async () => {
    const { redis, hold, name } = setup()
    const feed = redis.feed(name)
    await feed.append(0)
    const writing = hold('feed/append-alike')
    const reading = hold('feed/read')
    const calls = [feed.append(1), feed.read()]
    const settled = Promise.allSettled(calls)
    await Promise.all([writing, reading])

    void redis.close()
    const unsent = feed.append(2)

    await expect(unsent).rejects.toEqual(CLOSED)
    expect(await settled).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ code: 'ambiguous', cause: CLOSED }) },
      { status: 'rejected', reason: CLOSED },
    ])
  })

  test('of the first use, before the server is known, end too', async () => {
    const proxy = await startProxy(inject('redisPort'))
    onTestFinished(() => proxy.stop())
    const { redis, name, client } = setup(proxy.port)
    await client.ping()
    proxy.halfOpen()
    const settled = Promise.allSettled([redis.feed(name).append(1), redis.lock(name).acquire({ wait: '1h' })])

    await redis.close()

    expect(await settled).toEqual([
      { status: 'rejected', reason: CLOSED },
      { status: 'rejected', reason: CLOSED },
    ])
  })

  test('closing again returns the same promise, and preloading is rejected', async () => {
    const { redis } = setup()

    expect(redis.close()).toBe(redis.close())
    await expect(redis.preload()).rejects.toEqual(CLOSED)
    expect(redis.healthy()).toBe(false)
  })
})

/** Calls that acquire something, the script whose answer brings it, and a check that it is free. */
type Taking = [
  what: string,
  script: string,
  take: (setup: Setup) => Promise<unknown>,
  isFree: (setup: Setup) => Promise<boolean>,
]

async function isFree(attempt: Promise<Lease | null>): Promise<boolean> {
  const lease = await attempt
  await lease?.release()
  return lease !== null
}

const takings: Taking[] = [
  [
    'a lock',
    'lock/acquire',
    ({ redis, name }) => redis.lock(name).tryAcquire(),
    ({ redis, name }) => isFree(redis.lock(name).tryAcquire()),
  ],
  [
    'a lock with a wait',
    'lock/acquire',
    ({ redis, name }) => redis.lock(name).acquire({ wait: '1h' }),
    ({ redis, name }) => isFree(redis.lock(name).tryAcquire()),
  ],
  [
    'a detached lock',
    'lock/acquire',
    ({ redis, name }) => redis.lock(name).acquireDetached(),
    ({ redis, name }) => isFree(redis.lock(name).tryAcquire()),
  ],
  [
    'a reader',
    'lock/acquire-shared',
    ({ redis, name }) => redis.lock(name).shared.tryAcquire(),
    ({ redis, name }) => isFree(redis.lock(name).tryAcquire()),
  ],
  [
    'a set of locks',
    'lock/acquire-all',
    ({ redis, name }) => redis.locks(['a', 'b'], { group: name }).acquire({ wait: '1h' }),
    ({ redis, name }) => isFree(redis.locks(['a', 'b'], { group: name }).tryAcquire()),
  ],
  [
    'a permit',
    'semaphore/acquire',
    ({ redis, name }) => redis.semaphore(name, { limit: 1 }).acquire({ wait: '1h' }),
    ({ redis, name }) => isFree(redis.semaphore(name, { limit: 1 }).tryAcquire()),
  ],
  [
    'an attempt',
    'once/begin',
    ({ redis, name }) => redis.once(name).begin('a'),
    async ({ redis, name }) => (await redis.once(name).begin('a')).status === 'started',
  ],
  [
    'a task',
    'once/begin',
    ({ redis, name }) => redis.once(name).run('a', () => expect.fail('it must not begin')),
    async ({ redis, name }) => (await redis.once(name).begin('a')).status === 'started',
  ],
  [
    'a load',
    'cache/elect',
    ({ redis, name }) => redis.cache(name).get('a', () => 'mine'),
    async ({ redis, name }) => (await redis.cache(name).get('a', () => 'yours', { wait: '1s' })) === 'yours',
  ],
  [
    'a claim of jobs',
    'queue/ack-and-claim-plain',
    ({ redis, name }) => redis.queue(name).claim(),
    async ({ redis, name }) => (await redis.queue(name).inspect()).ready === 1,
  ],
  [
    'a claim of jobs of partitions',
    'queue/ack-and-claim-plain',
    ({ redis, name }) => redis.queue(`${name}p`, { partitions: 1 }).claim(),
    async ({ redis, name }) => (await redis.queue(`${name}p`, { partitions: 1 }).inspect()).ready === 1,
  ],
  [
    'a claim of messages',
    'feed/claim',
    ({ redis, name }) => redis.feed(name).claim(),
    async ({ redis, name }) => (await redis.feed(name).claim()) !== null,
  ],
]

describe.each(takings)('%s granted while the instance closes', (_, script, take, free) => {
  test('is given back, and its caller gets an error', async () => {
    const [closing, other] = [setup(), setup()]
    const there = { ...other, name: closing.name }
    await there.redis.queue(there.name).enqueue('a', 1)
    await there.redis.queue(`${there.name}p`, { partitions: 1 }).enqueue('a', 1)
    await there.redis.feed(there.name).append(1)
    await closing.redis.feed(randomUUID()).inspect()
    const granted = closing.hold(script)
    const taken = Promise.allSettled([take(closing)])
    const open = await granted

    const closed = closing.redis.close()
    setTimeout(open, 20)
    await closed

    const [{ reason }] = (await taken) as [PromiseRejectedResult]
    expect(['closed', 'ambiguous']).toContain(reason.code)
    expect(await free(there)).toBe(true)
  })
})

describe('leases', () => {
  test('that are held are given back, and their signals abort', async () => {
    const { redis, name } = setup()
    const [lock, bare] = await Promise.all([redis.lock(name).acquire(), redis.lock(`${name}b`).acquire()])
    const permit = await redis.semaphore(name, { limit: 1 }).acquire()
    const { signal } = lock

    await redis.close()

    for (const lease of [lock, bare, permit]) {
      expect(lease.signal.aborted).toBe(true)
      expect(lease.signal.reason).toBeInstanceOf(LeaseLostError)
      expect(lease.signal.reason.cause).toEqual(CLOSED)
      expect(lease.remainingMs).toBe(0)
      expect(() => lease.assertHeld()).toThrow(LeaseLostError)
      await expect(lease.release()).rejects.toThrow(LeaseLostError)
    }
    expect(signal).toBe(lock.signal)
    const { redis: other } = setup()
    expect(await isFree(other.lock(name).tryAcquire())).toBe(true)
    expect(await isFree(other.lock(`${name}b`).tryAcquire())).toBe(true)
    expect(await other.semaphore(name, { limit: 1 }).inspect()).toMatchObject({ used: 0 })
  })

  test('a task under a lease that ends soon may first give back what it holds', async () => {
    const { redis, name, calls } = setup()
    const { redis: other } = setup()
    const seen: unknown[] = []
    const task = redis.lock(name).run(async (lease) => {
      seen.push('begun')
      await new Promise((resolve) => lease.signal.addEventListener('abort', resolve))
      await new Promise((resolve) => setTimeout(resolve, 50))
      seen.push((await other.lock(name).inspect()).mode)
      return 'done'
    })
    const silent = redis.once(name).run('a', async () => {
      seen.push('begun')
      await new Promise((resolve) => setTimeout(resolve, 100))
      return 'kept'
    })
    while (seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 2))

    await redis.close()

    expect(await Promise.all([task, silent])).toEqual(['done', 'kept'])
    expect(seen).toEqual(['begun', 'begun', 'held'])
    expect(calls.filter((call) => call === 'lock/release')).toHaveLength(1)
    expect(await other.once(name).get('a')).toMatchObject({ result: 'kept' })
  })

  test.each<[string, (redis: Perilune, name: string, task: () => Promise<void>) => Promise<void>]>([
    ['a lock', (redis, name, task) => redis.lock(name).run(task)],
    ['a set', (redis, name, task) => redis.locks([name, `${name}b`]).run(task)],
    ['a permit', (redis, name, task) => redis.semaphore(name, { limit: 1 }).run(task)],
    [
      'a block',
      async (redis, name, task) => {
        await using lease = await redis.lock(name).acquire()
        expect(lease.signal.aborted).toBe(false)
        await task()
      },
    ],
  ])('an endless task under %s loses its lease to others, and is notified at its end', async (_, run) => {
    const { redis, name } = setup()
    const { redis: other } = setup()
    let end = (): void => undefined
    let begin = (): void => undefined
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const running = Promise.allSettled([
      run(redis, name, () => {
        begin()
        return new Promise<void>((resolve) => (end = resolve))
      }),
    ])
    await begun

    await redis.close()

    expect(await isFree(other.lock(name).tryAcquire())).toBe(true)
    expect(await isFree(other.semaphore(name, { limit: 1 }).tryAcquire())).toBe(true)
    end()
    expect(await running).toMatchObject([{ reason: { name: 'LeaseLostError', cause: CLOSED } }])
  })
})

describe('a driver of two instances', () => {
  test('continues until the last of them is closed', async () => {
    const { driver, redis, name } = setup()
    const second = perilune(driver, { namespace: NAMESPACE })

    await redis.close()
    expect(redis.healthy()).toBe(false)
    const lease = await second.lock(name).acquire()
    await lease.release()
    expect(second.healthy()).toBe(true)
    await second.close()

    expect(driver.healthy()).toBe(false)
  })

  test('ends the subscriptions of the closed one', async () => {
    const { driver, redis, client, name } = setup()
    const second = perilune(driver, { namespace: `${NAMESPACE}2` })
    onTestFinished(() => second.close())
    const tails = [redis, second].map((each) => {
      return each
        .feed(name)
        .read({ after: 'end', wait: '1h' })
        .catch((error: unknown) => error)
    })
    await redis.cache(name, { l1: { count: 1, age: '1m' } }).get('a', () => 1)
    const [first, other] = [NAMESPACE, `${NAMESPACE}2`].map((each) => `${each}:{feed:${name}}:wake`)
    const heard = async (channel = '') => (await client.pubsub('NUMSUB', channel))[1]
    await expect.poll(() => heard(first)).toBe(1)
    await expect.poll(() => heard(other)).toBe(1)

    await redis.close()

    expect(await tails[0]).toEqual(CLOSED)
    await expect.poll(() => heard(first)).toBe(0)
    expect(await heard(other)).toBe(1)
    await second.close()
    expect(await tails[1]).toEqual(CLOSED)
  })

  test('is rejected by name once it is closed', async () => {
    const { driver, redis } = setup()
    await redis.close()

    expect(() => perilune(driver)).toThrow(/^driver must be open, and was closed with its last instance/)
  })
})

test('without any answers closing still ends, and reports what may have happened', async () => {
  const proxy = await startProxy(inject('redisPort'))
  onTestFinished(() => proxy.stop())
  const { redis, name } = setup(proxy.port)
  const lease = await redis.lock(name).acquire()
  proxy.halfOpen()
  const released = lease.release()
  const settled = Promise.allSettled([released])

  await redis.close()

  expect(await settled).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: 'ambiguous' }) },
  ])
})

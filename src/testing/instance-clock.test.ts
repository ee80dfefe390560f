// The test clock for users, on real servers: structures and user scripts.

import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { type Driver, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { type TestClock, testClock } from 'perilune/testing'
import { createClient } from 'redis'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { counting } from '../../test/counting-driver.ts'
import { until } from '../../test/queue-fixture.ts'
import { guildNames, preload, visits } from '../../test/scripts/generated/redis.ts'
import type { Script } from '../driver.ts'

// Without a wake-up, a waiter polls after ten seconds and more.
const WOKEN = { timeout: 8000 }
const STARTS_AT = new Date('2027-03-01T12:00:00Z')

interface Process {
  readonly redis: Perilune
  readonly client: Redis
  readonly driver: Driver
  readonly calls: readonly string[]
}

function started(): Process {
  const client = new Redis(inject('redisPort'))
  const calls: string[] = []
  const driver = counting(ioredis(client), calls)
  const redis = perilune(driver, { namespace: 'clock-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, client, driver, calls }
}

interface Setup extends Process {
  readonly clock: TestClock
  readonly name: string
}

function setup(): Setup {
  const process = started()
  const clock = testClock(process.redis, { startsAt: STARTS_AT })
  return { ...process, clock, name: randomUUID() }
}

test('a lock of a dead holder is free when its lease has expired, and not before', async () => {
  const { redis, clock, name } = setup()
  const lock = redis.lock(name, { lease: '1h' })
  const first = await lock.acquire()

  clock.advance('59m')
  expect(await lock.tryAcquire()).toBeNull()
  clock.advance('1m')

  const second = await lock.tryAcquire()
  expect(second?.token).toBeGreaterThan(first.token)
  expect(second?.expiresAtMs).toBe(STARTS_AT.getTime() + 2 * 3_600_000)
})

test('a waiter in line looks again after the clock was advanced', WOKEN, async () => {
  const { redis, clock, name } = setup()
  const lock = redis.lock(name, { lease: '1h' })
  await lock.acquire()
  const waiting = lock.acquire({ wait: '10m' })
  await until(async () => (await lock.inspect()).waiting === 1)

  clock.advance('1h')

  await expect(waiting).resolves.toMatchObject({ expiresAtMs: clock.nowMs + 3_600_000 })
})

test('a holder of an expired lease notices at its next extension', async () => {
  const { redis, clock, name } = setup()
  const lease = await redis.lock(name, { lease: '3s' }).acquire()

  clock.advance('10s')

  await until(() => lease.signal.aborted)
  expect(() => lease.assertHeld()).toThrow()
})

test('a waiting worker runs a delayed job when it is due', WOKEN, async () => {
  const { redis, clock, calls, name } = setup()
  const queue = redis.queue<{ mail: { to: string } }>(name)
  const sent: string[] = []
  const worker = queue.work({ mail: ({ payload }) => void sent.push(payload.to) })
  await queue.enqueue('mail', { to: 'ada' }, { delay: '2h' })
  await queue.enqueue('mail', { to: 'bob' })
  await until(() => sent.length === 1)
  await until(() => calls.some((call) => call.includes('claim')))

  clock.advance('119m')
  expect((await queue.inspect()).scheduled).toBe(1)
  clock.advance('1m')

  await until(() => sent.length === 2)
  await worker.close()
  expect(sent).toEqual(['bob', 'ada'])
})

test('a recurring job runs at the times of its time zone', WOKEN, async () => {
  const { redis, clock, name } = setup()
  const queue = redis.queue<{ report: null }>(name)
  let runs = 0
  const worker = queue.work({ report: () => void (runs += 1) })
  await queue.recurring.set('daily', {
    name: 'report',
    payload: null,
    cron: '0 14 * * *',
    timeZone: 'Europe/Berlin',
  })

  clock.advance('1h')
  await until(() => runs === 1)
  clock.advance('1d')
  await until(() => runs === 2)

  await worker.close()
})

test('a cached value ages, and so does its copy in this process', async () => {
  const { redis, clock, name } = setup()
  const cache = redis.cache<number>(name, {
    ttl: '1h',
    early: false,
    l1: { count: 10, age: '10m' },
  })
  let loads = 0
  const load = (): number => (loads += 1)

  expect([await cache.get('a', load), await cache.get('a', load)]).toEqual([1, 1])
  clock.advance('59m')
  expect(await cache.get('a', load)).toBe(1)
  clock.advance('2m')

  expect(await cache.get('a', load)).toBe(2)
})

test('a rate limit refills', async () => {
  const { redis, clock, name } = setup()
  const limit = redis.rateLimit(name, { limit: 2, window: '1m' })
  await limit.take('ada', { cost: 2 })

  expect((await limit.take('ada')).allowed).toBe(false)
  clock.advance('30s')

  expect((await limit.take('ada')).allowed).toBe(true)
  expect((await limit.take('ada')).allowed).toBe(false)
})

test('a delayed message reaches a waiting consumer', WOKEN, async () => {
  const { redis, clock, calls, name } = setup()
  const feed = redis.feed<string>(name)
  await feed.append('later', { delay: '1d' })
  const waiting = feed.read({ wait: '10m' })

  await until(() => calls.includes('feed/read'))
  clock.advance('1d')

  expect((await waiting).messages.map(({ body }) => body)).toEqual(['later'])
})

test('user scripts read the test clock, and get all of their arguments', async () => {
  const { redis, clock, name } = setup()
  const own = visits(redis, name)
  const lake = { place: 'lake', times: 3 }

  const first = await own.addUp({ weight: 1, visits: [lake, { place: 'hill', times: 1 }] })
  clock.advance('5m')
  const second = await own.addUp({ weight: 1, visits: [] })

  expect(first).toMatchObject({ total: 4, places: [lake, { place: 'hill', times: 1 }] })
  expect(first.last).toBe(BigInt(STARTS_AT.getTime()) * 1000n)
  expect(second.last - first.last).toBe(300_000_000n)
})

test('an error of Lua names the line of the source', async () => {
  const { redis, name } = setup()
  await guildNames(redis, name).add({ member: 'ada' })

  await expect(guildNames(redis, name).broken()).rejects.toThrow('redis/guild-names/broken.lua:10')
})

test('on a cluster all units use the clock', async () => {
  const [port = 0] = inject('clusterPorts')
  const cluster = new Cluster([{ host: '127.0.0.1', port }])
  const redis = perilune(ioredis(cluster), { namespace: 'clock-test' })
  onTestFinished(async () => {
    await redis.close()
    cluster.disconnect()
  })
  const clock = testClock(redis)
  const before = clock.nowMs
  await preload(redis)
  clock.advance('3d')

  const names = Array.from({ length: 6 }, () => randomUUID())
  const answers = await Promise.all(names.map((name) => visits(redis, name).addUp({ weight: 1, visits: [] })))

  expect(clock.nowMs - before).toBe(3 * 86_400_000)
  expect(new Set(answers.map(({ last }) => last))).toEqual(new Set([BigInt(clock.nowMs) * 1000n]))
})

test('it works with node-redis too', async () => {
  const client = createClient({ socket: { port: inject('redisPort') } })
  await client.connect()
  const redis = perilune(nodeRedis(client), { namespace: 'clock-test' })
  onTestFinished(async () => {
    await redis.close()
    client.destroy()
  })
  const clock = testClock(redis)
  const lock = redis.lock(randomUUID(), { lease: '1h' })
  await lock.acquire()
  const waiting = lock.acquire({ wait: '10m' })
  await until(async () => (await lock.inspect()).waiting === 1)

  clock.advance('1h')

  await expect(waiting).resolves.toMatchObject({ expiresAtMs: clock.nowMs + 3_600_000 })
})

test('several instances share one clock', async () => {
  const [one, other] = [started(), started()]
  const clock = testClock([one.redis, other.redis])
  const name = randomUUID()
  await one.redis.lock(name, { lease: '1m' }).acquire()
  const lock = other.redis.lock(name)

  expect(await lock.tryAcquire()).toBeNull()
  clock.advance('1m')

  expect(await lock.tryAcquire()).not.toBeNull()
})

test('instances on one driver are connected to the clock once', async () => {
  const { redis, driver } = started()
  const other = perilune(driver, { namespace: 'clock-test-too' })
  const clock = testClock([redis, other])
  const name = randomUUID()

  const answers = [redis, other].map((each) => visits(each, name).addUp({ weight: 1, visits: [] }))

  const last = BigInt(clock.nowMs) * 1000n
  expect((await Promise.all(answers)).map((answer) => answer.last)).toEqual([last, last])
  expect(() => testClock(other)).toThrow('redis has a test clock already')
})

test('other users are not affected: no key is written, and their clock is the real one', async () => {
  const { redis, client, clock, name } = setup()
  const other = started()
  clock.advance('365d')

  await visits(redis, name).addUp({ weight: 1, visits: [] })
  const { last } = await visits(other.redis, `${name} of the other`).addUp({ weight: 1, visits: [] })

  expect(Number(last / 1000n)).toBeLessThan(Date.now() + 60_000)
  expect(await client.keys(`*${name}*clock*`)).toEqual([])
})

test('every script of the library uses the clock, with an unchanged number of lines', async () => {
  const { redis, driver } = started()
  const scripts = new Map<string, Script>()
  const load = driver.load.bind(driver)
  driver.load = async (script) => {
    scripts.set(script.name, script)
    return load(script)
  }
  await redis.preload()
  const before = new Map(scripts)

  testClock(redis)
  await redis.preload()

  const timed = [...before.values()].filter(({ source }) => source.includes('clock_us()'))
  expect(timed.length).toBeGreaterThan(50)
  for (const [name, { source, sha1 }] of before) {
    const after = scripts.get(name)
    expect(after?.source).not.toContain("'TIME'")
    expect(after?.source.split('\n').length).toBe(source.split('\n').length)
    expect(after?.sha1 === sha1).toBe(!source.includes("'TIME'"))
  }
})

test('invalid arguments are rejected', () => {
  const { redis, clock } = setup()

  expect(() => testClock(redis)).toThrow('redis has a test clock already')
  const twice = started().redis
  expect(() => testClock([twice, twice])).toThrow('redis has a test clock already')
  expect(() => testClock(started().redis, { startsAt: new Date('soon') })).toThrow('must be a Date')
  expect(() => testClock(started().redis, { start: 5 } as never)).toThrow('options.start is not known')
  expect(() => clock.advance('-1s')).toThrow('by must be a duration')
  expect(clock.nowMs).toBe(STARTS_AT.getTime())
})

test('a test clock is rejected in production', () => {
  vi.stubEnv('NODE_ENV', 'production')
  onTestFinished(() => void vi.unstubAllEnvs())

  expect(() => testClock(started().redis)).toThrow('a test clock is not for production')
})

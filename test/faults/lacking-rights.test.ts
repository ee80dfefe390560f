// A user who lacks one command harms no other: what is refused changes nothing, holds nothing, and loses no place in a
// line. See also hand-over-rights.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Duration, type Lease, type Perilune } from 'perilune'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../servers/ask.ts'
import { type Users, usersOn } from '../rights-fixture.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'

const COMMANDS = [
  'zrem',
  'zadd',
  'hset',
  'hdel',
  'set',
  'pexpire',
  'zrange',
  'zcard',
  'zrangebyscore',
] as const

let server: RedisServer
let admin: Redis

beforeAll(async () => {
  server = await startRedis()
  admin = new Redis(server.port)
})

afterAll(async () => {
  admin.disconnect()
  await server.stop()
})

const setup = (): Users => usersOn(server.port, admin)

const refused = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => false,
    () => true,
  )

test.each(COMMANDS)(
  'a reader whose shorter extension is refused is not believed beside a writer, without %s',
  async (command) => {
    const { allow, limited, full, name } = setup()
    await allow()
    const reader = await limited().lock(name, { lease: '1m' }).shared.acquire()
    const others = full()
    await allow(`-${command}`)
    await refused(reader.extend('300ms'))
    await sleep(400)
    const waiting = others
      .lock(name)
      .acquire({ wait: '1s' })
      .catch(() => null)
    await until('it waits', async () => (await others.lock(name).inspect()).waiting === 1)
    // The server looks at the leases of readers.
    await full().lock(name).shared.tryAcquire()

    const writer = await waiting

    expect([reader.remainingMs > 0, writer !== null].filter(Boolean).length).toBeLessThanOrEqual(1)
  },
)

test.each(COMMANDS)(
  'a permit whose shorter extension is refused is not believed beside another one, without %s',
  async (command) => {
    const { allow, limited, full, name } = setup()
    await allow()
    const permit = await limited().semaphore(name, { limit: 2, lease: '1m' }).acquire()
    const others = full().semaphore(name, { limit: 2, lease: '200ms' })
    await others.acquireDetached()
    await allow(`-${command}`)
    await refused(permit.extend('300ms'))
    await sleep(400)

    const tried = await Promise.all([1, 2].map(() => others.tryAcquire()))

    expect([permit.remainingMs > 0, ...tried].filter(Boolean).length).toBeLessThanOrEqual(2)
  },
)

test.each(COMMANDS)(
  'a reader whose release is refused is not believed beside a writer, without %s',
  async (command) => {
    const { allow, limited, full, name } = setup()
    await allow(`-${command}`)
    const others = full()
    const reader = await limited()
      .lock(name, { lease: '1m' })
      .shared.acquire()
      .catch(() => null)
    if (reader === null) return
    const waiting = others
      .lock(name)
      .acquire({ wait: '1s' })
      .catch(() => null)
    await until('it waits', async () => (await others.lock(name).inspect()).waiting === 1)
    await refused(reader.release())
    await full().lock(name).shared.tryAcquire()

    const writer = await waiting

    expect([reader.remainingMs > 0, writer].filter(Boolean).length).toBeLessThanOrEqual(1)
  },
)

test.each(COMMANDS)(
  'a permit whose release is refused beside an ended one is not believed beside others, without %s',
  async (command) => {
    const { allow, limited, full, name } = setup()
    await allow()
    const of = (redis: Perilune, lease: Duration) => redis.semaphore(name, { limit: 2, lease })
    const others = full()
    await of(others, '300ms').acquireDetached()
    const permit = await of(limited(), '1m').acquire()
    await allow(`-${command}`)
    await sleep(400)
    await refused(permit.release())

    const tried = await Promise.all([1, 2].map(() => of(others, '1m').tryAcquire()))

    expect([permit.remainingMs > 0, ...tried].filter(Boolean).length).toBeLessThanOrEqual(2)
  },
)

interface Kind {
  hold(redis: Perilune, name: string): Promise<Lease>
  wait(redis: Perilune, name: string): Promise<Lease>
  inspect(redis: Perilune, name: string): Promise<{ waiting: number }>
}

const semaphoreOf = (redis: Perilune, name: string) => redis.semaphore(name, { limit: 1, lease: '2s' })
const lockOf = (redis: Perilune, name: string) => redis.lock(name, { lease: '2s' })
const kinds: Record<string, Kind> = {
  semaphore: {
    hold: (redis, name) => semaphoreOf(redis, name).acquire(),
    wait: (redis, name) => semaphoreOf(redis, name).acquire({ wait: '20s' }),
    inspect: (redis, name) => semaphoreOf(redis, name).inspect(),
  },
  lock: {
    hold: (redis, name) => lockOf(redis, name).acquire(),
    wait: (redis, name) => lockOf(redis, name).acquire({ wait: '20s' }),
    inspect: (redis, name) => lockOf(redis, name).inspect(),
  },
  'lock that readers wait for': {
    hold: (redis, name) => lockOf(redis, name).acquire(),
    wait: (redis, name) => lockOf(redis, name).shared.acquire({ wait: '20s' }),
    inspect: (redis, name) => lockOf(redis, name).inspect(),
  },
}
const hands = Object.keys(kinds).flatMap((kind) => COMMANDS.map((command) => [kind, command] as const))

test.each(hands)(
  'a hand-over of a %s that is refused changes no order, without %s',
  async (kind, command) => {
    const { allow, limited, full, name } = setup()
    const { hold, wait, inspect } = kinds[kind] as Kind
    await allow()
    const held = await hold(limited(), name)
    const observer = full()
    const line: Promise<unknown>[] = []
    const met: number[] = []
    for (const at of [1, 2, 3]) {
      const turn = wait(full(), name).then((lease) => {
        met.push(at)
        return lease.release()
      })
      line.push(turn)
      await until('it waits', async () => (await inspect(observer, name)).waiting === at)
    }
    await allow(`-${command}`)
    await refused(held.release())
    await allow()
    await Promise.all(line)

    // Readers come together.
    expect(kind.includes('readers') ? met.toSorted((left, right) => left - right) : met).toEqual([1, 2, 3])
  },
)

test.each(COMMANDS)('an attempt that removes ended permits leaves none used, without %s', async (command) => {
  const { allow, limited, full, name } = setup()
  const redis = full()
  const semaphore = redis.semaphore(name, { limit: 3, lease: '1m' })
  await semaphore.acquire()
  for (const _ of [1, 2]) await redis.semaphore(name, { limit: 3, lease: '200ms' }).acquireDetached()
  await allow(`-${command}`)
  await sleep(300)
  const own = await limited()
    .semaphore(name, { limit: 3, lease: '300ms' })
    .tryAcquire()
    .catch(() => null)
  await refused(own?.release() ?? Promise.resolve())
  await sleep(400)

  const rest = await semaphore.tryAcquire({ weight: 2 })

  expect(rest?.remainingMs).toBeGreaterThan(0)
})

test.each(COMMANDS)('a reader whose attempt is refused holds nothing, without %s', async (command) => {
  const { allow, limited, full, name } = setup()
  const lock = full().lock(name, { lease: '1m' })
  const other = await lock.shared.acquire()
  await allow(`-${command}`)
  const own = await limited()
    .lock(name, { lease: '1m' })
    .shared.tryAcquire()
    .catch(() => null)
  await other.release()

  const writer = own === null ? await lock.acquire({ wait: '5s' }) : null

  expect((own ?? writer)?.remainingMs).toBeGreaterThan(0)
})

test.each(COMMANDS)('a barging attempt that is refused holds nothing, without %s', async (command) => {
  const { allow, limited, full, name } = setup()
  const redis = full()
  await redis.lock(name, { lease: '300ms' }).acquireDetached()
  const waiting = redis.lock(name).acquire({ wait: '10s' })
  await until('one waits', async () => (await redis.lock(name).inspect()).waiting === 1)
  await allow(`-${command}`)
  const barging = limited().lock(name, { lease: '1m', fair: false })
  let own: Lease | null = null
  for (let tries = 0; tries < 40 && own === null; tries += 1) {
    own = await barging.tryAcquire().catch(() => null)
    await sleep(10)
  }
  await refused(own?.release() ?? Promise.resolve())
  if (own !== null) await allow()

  const lease =
    own === null
      ? await waiting
      : await redis
          .lock(name)
          .acquire({ wait: '10s' })
          .catch(() => waiting)

  expect(lease.remainingMs).toBeGreaterThan(0)
})

// A user who lacks one command gives back what others wait for. Redis ends the script at that command and keeps what it
// has done before. No process may believe to hold what another one has, and what is given back must become free.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Duration, type Lease, type Lock, type Perilune } from 'perilune'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../servers/ask.ts'
import { type Users, usersOn } from '../rights-fixture.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'

const LEASE = '2s'
const COMMANDS = ['zrem', 'zadd', 'hset', 'hdel', 'set', 'setrange', 'pexpire', 'zrangebyscore'] as const

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

interface Place {
  acquire(options?: { wait: '5s' | '10s' }): Promise<Lease>
  acquireDetached(): Promise<unknown>
}

type Kind = (
  redis: Perilune,
  name: string,
  lease?: Duration,
) => { held: Place; awaited: Place; waiting(): Promise<number> }

const lockOf = (redis: Perilune, name: string, lease: Duration = LEASE) => redis.lock(name, { lease })
const inLine = async (redis: Perilune, name: string) => (await lockOf(redis, name).inspect()).waiting

const kinds: readonly [string, Kind][] = [
  [
    'lock',
    (redis, name, lease) => ({
      held: lockOf(redis, name, lease),
      awaited: lockOf(redis, name, lease),
      waiting: () => inLine(redis, name),
    }),
  ],
  [
    'lock that readers wait for',
    (redis, name, lease) => ({
      held: lockOf(redis, name, lease),
      awaited: lockOf(redis, name, lease).shared,
      waiting: () => inLine(redis, name),
    }),
  ],
  [
    'lock that is read',
    (redis, name, lease) => ({
      held: lockOf(redis, name, lease).shared,
      awaited: lockOf(redis, name, lease),
      waiting: () => inLine(redis, name),
    }),
  ],
  [
    'semaphore',
    (redis, name, lease = LEASE) => {
      const semaphore = redis.semaphore(name, { limit: 1, lease })
      return {
        held: semaphore,
        awaited: semaphore,
        waiting: async () => (await semaphore.inspect()).waiting,
      }
    },
  ],
]

const setup = (): Users => usersOn(server.port, admin)

const cases = kinds.flatMap(([kind, of]) => COMMANDS.map((command) => [kind, command, of] as const))

test.each(cases)(
  'a %s is never held twice, and becomes free, without the right to %s',
  async (_, command, of) => {
    const users = setup()
    await users.allow()
    const [limited, full] = [users.limited(), users.full()]
    const { name } = users
    const [here, there] = [of(limited, name), of(full, name)]
    const held = await here.held.acquire()
    const waiting = there.awaited.acquire({ wait: '10s' })
    await until('one waits', async () => (await there.waiting()) === 1)
    // A lease that another one gets later must not be mistaken for this one.
    await users.allow(`-${command}`)

    const released = await held.release().then(
      () => true,
      () => false,
    )
    const lease = await waiting

    expect([released, held.remainingMs]).toEqual([released, 0])
    expect(lease.remainingMs).toBeGreaterThan(0)
    await lease.release()
    // A ticket that could not be removed is granted what its process gives back.
    const again = await there.held.acquire({ wait: '10s' })
    await again.release()
  },
)

// Who may not write the state can get no permit either: only a rule that changes in the meantime lacks this one.
const LATER = COMMANDS.filter((command) => command !== 'set')

test.each(LATER)(
  'what a permit used is free when its lease has ended, without the right to %s',
  async (command) => {
    const users = setup()
    await users.allow()
    const [limited, full] = [users.limited(), users.full()]
    const [name, limit] = [randomUUID(), 3]
    await full.semaphore(name, { limit, lease: '1m' }).acquire()
    const short = limited.semaphore(name, { limit, lease: '300ms' })
    for (let round = 0; round < limit; round += 1) {
      await users.allow()
      const permit = await short.acquire({ wait: '10s' })
      await users.allow(`-${command}`)
      await permit.release().catch(() => undefined)
    }

    const permits = await Promise.all(
      [1, 2].map(() => full.semaphore(name, { limit }).acquire({ wait: '10s' })),
    )

    expect(permits.map(({ remainingMs }) => remainingMs > 0)).toEqual([true, true])
  },
)

test.each(LATER)(
  'what is given back while others wait is not counted twice beside another permit, without the right to %s',
  async (command) => {
    const users = setup()
    await users.allow()
    const [limited, full] = [users.limited(), users.full()]
    const { name } = users
    const of = (redis: Perilune) => redis.semaphore(name, { limit: 2, lease: LEASE })
    const beside = await of(full).acquire()
    const held = await of(limited).acquire()
    const waiting = of(full).acquire({ wait: '10s' })
    await until('one waits', async () => (await of(full).inspect()).waiting === 1)
    await users.allow(`-${command}`)
    await held.release().catch(() => undefined)
    await (await waiting).release()

    const again = await of(full).acquire({ wait: '10s' })

    expect([beside.remainingMs > 0, again.remainingMs > 0]).toEqual([true, true])
    await again.release()
    expect((await of(full).inspect()).used).toBe(1)
  },
)

test.each(COMMANDS)(
  'refused attempts leave the limit of a semaphore as it is, without the right to %s',
  async (command) => {
    const users = setup()
    await users.allow(`-${command}`)
    const [limited, full] = [users.limited(), users.full()]
    const { name } = users
    const of = (redis: Perilune) => redis.semaphore(name, { limit: 2, lease: '300ms' })
    const held = await of(full).acquire()
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const permit = await of(limited)
        .tryAcquire()
        .catch(() => null)
      await permit?.release().catch(() => undefined)
    }

    const tried = await Promise.all([1, 2, 3].map(() => of(full).tryAcquire()))
    const others = tried.filter((permit) => permit !== null)
    expect(others.length).toBeLessThanOrEqual(1)
    const second = others[0] ?? (await of(full).acquire({ wait: '10s' }))
    expect([held.remainingMs > 0, second.remainingMs > 0]).toEqual([true, true])
  },
)

test.each(kinds)('a refused attempt at a %s that it waited for holds nothing', async (_, of) => {
  const users = setup()
  await users.allow()
  const [limited, full] = [users.limited(), users.full()]
  const { name } = users
  const [here, there] = [of(limited, name, '1m'), of(full, name)]
  await of(full, name, '500ms').held.acquireDetached()
  const refused = here.awaited.acquire({ wait: '10s' }).catch((error: unknown) => error)
  await until('one waits', async () => (await there.waiting()) === 1)
  await users.allow('-zrem')

  expect(await refused).toMatchObject({ code: 'forbidden' })

  const lease = await there.held.acquire({ wait: '5s' })
  expect(lease.remainingMs).toBeGreaterThan(0)
  await lease.release()
})

test('a ticket that no process may remove keeps a lock for no lease', async () => {
  const users = setup()
  await users.allow()
  const [limited, other, full] = [users.limited(), users.limited(), users.full()]
  const { name } = users
  const [here, there] = [limited, other].map((redis) => redis.lock(name, { lease: '1m' })) as [Lock, Lock]
  // A process that knows the server's clock is granted the whole lease.
  await (await lockOf(other, randomUUID()).acquire()).release()
  const held = await here.acquire()
  const first = there.acquire({ wait: '10s' }).catch(() => null)
  await until('one waits', async () => (await inLine(full, name)) === 1)
  const second = there.acquire({ wait: '10s' }).catch(() => null)
  await until('two wait', async () => (await inLine(full, name)) === 2)
  await users.allow('-zrem')
  await held.release()
  await (await first)?.release()

  const lease = await lockOf(full, name).acquire({ wait: '10s' })

  expect(lease.remainingMs).toBeGreaterThan(0)
  await lease.release()
  await (await second)?.release()
})

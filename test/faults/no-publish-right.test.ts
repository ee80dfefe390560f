// A user who may write and may not publish: Redis gives a new user no channels. Waiters still get what it frees, and
// nothing is half done.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Duration, type Lease, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { until, withClient } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'
import { sleeper } from './sleeper.ts'
import { someOf } from '../proof.ts'

/** One instance of a user who may do everything, and one of a user who may not publish. */
async function setup(): Promise<{ heard: Perilune; mute: Perilune; name: string; port: number }> {
  const server = await startRedis()
  const admin = new Redis(server.port)
  await admin.call('ACL', 'SETUSER', 'mute', 'on', '>secret', '~*', '+@all', 'resetchannels')
  const user = new Redis(server.port, { username: 'mute', password: 'secret' })
  const [heard, mute] = [perilune(ioredis(admin)), perilune(ioredis(user))]
  onTestFinished(async () => {
    await Promise.all([heard.close(), mute.close()])
    for (const client of [admin, user]) client.disconnect()
    await server.stop()
  })
  return { heard, mute, name: randomUUID(), port: server.port }
}

interface Held {
  acquire(options?: { wait: Duration }): Promise<Lease>
}

const kinds: [string, (redis: Perilune, name: string) => { held: Held; waiting: Held }][] = [
  ['lock', (redis, name) => alike(redis.lock(name))],
  ['barging lock', (redis, name) => alike(redis.lock(name, { fair: false }))],
  ['lock that is read', (redis, name) => ({ held: redis.lock(name), waiting: redis.lock(name).shared })],
  ['semaphore', (redis, name) => alike(redis.semaphore(name, { limit: 1 }))],
]

function alike(one: Held): { held: Held; waiting: Held } {
  return { held: one, waiting: one }
}

test.each(someOf(kinds, 2))(
  'a %s that is given back by a user who may not publish goes to the waiter',
  async (_, of) => {
    const { heard, mute, name } = await setup()
    const held = await of(mute, name).held.acquire()
    const waiting = of(heard, name).waiting.acquire({ wait: '20s' })
    await until('one waits', async () => (await waitingFor(heard, name)) === 1)

    await held.release()

    const lease = await waiting
    expect(lease.remainingMs).toBeGreaterThan(20_000)
    await lease.release()
  },
)

const asleep: [string, (redis: Perilune, name: string) => Held, (redis: Perilune, name: string) => Held][] = [
  ['lock', (redis, name) => redis.lock(name), (redis, name) => redis.lock(name)],
  ['lock that both read', (redis, name) => redis.lock(name).shared, (redis, name) => redis.lock(name).shared],
  ['lock that it reads', (redis, name) => redis.lock(name).shared, (redis, name) => redis.lock(name)],
  ['lock that the other reads', (redis, name) => redis.lock(name), (redis, name) => redis.lock(name).shared],
  ['semaphore', permitOf, permitOf],
]

function permitOf(redis: Perilune, name: string): Held {
  return redis.semaphore(name, { limit: 1 })
}

test.each(someOf(asleep, 1))(
  'a %s is not withheld by a stalled waiter from another that may not notify it',
  { timeout: 60_000 },
  async (kind, ofAsleep, ofAwake) => {
    const { mute, heard, name, port } = await setup()
    const held = await (kind === 'semaphore' ? permitOf(mute, name) : mute.lock(name)).acquire()
    const other = sleeper(port)
    ofAsleep(other.redis, name)
      .acquire({ wait: '1h' })
      .catch(() => undefined)
    await until('one waits', async () => (await waitingFor(heard, name)) === 1)
    other.fallAsleep()
    const waiting = ofAwake(mute, name).acquire({ wait: '20s' })
    await until('another waits', async () => (await waitingFor(heard, name)) === 2)

    await held.release()

    await (await waiting).release()
  },
)

async function waitingFor(redis: Perilune, name: string): Promise<number> {
  const [lock, semaphore] = [redis.lock(name), redis.semaphore(name, { limit: 1 })]
  return (await lock.inspect()).waiting + (await semaphore.inspect()).waiting
}

test.each(someOf(kinds, 2))(
  'a %s is given back by a user who may not publish to a server that is out of memory',
  async (_, of) => {
    const { heard, mute, name, port } = await setup()
    const held = await of(mute, name).held.acquire()
    const waiting = of(heard, name).waiting.acquire({ wait: '20s' })
    await until('one waits', async () => (await waitingFor(heard, name)) === 1)
    await withClient(port, (client) => client.config('SET', 'maxmemory', '1'))

    await held.release()

    await withClient(port, (client) => client.config('SET', 'maxmemory', '0'))
    await (await waiting).release()
  },
)

test('a reader who was let in by a user who may not notify it does not read during a write', async () => {
  const { heard, mute, name } = await setup()
  const held = await mute.lock(name).acquire()
  const waiting = heard.lock(name).shared.acquire({ wait: '20s' })
  await until('one waits', async () => (await heard.lock(name).inspect()).waiting === 1)

  await held.release()
  const reader = await waiting

  expect(await heard.lock(name).tryAcquire()).toBeNull()
  await reader.release()
})

test('a job of a user who may not wake workers is done', async () => {
  const { heard, mute, name } = await setup()
  const done: number[] = []
  heard.queue<{ count: number }>(name).work({ count: ({ payload }) => void done.push(payload) })
  await until('a worker waits', async () => (await heard.queue(name).inspect()).idle > 0)

  const jobs = mute.queue<{ count: number }>(name)
  await jobs.enqueue('count', 1)
  await jobs.enqueue('count', 2)

  await expect.poll(() => done.toSorted((a, b) => a - b), { timeout: 20_000 }).toEqual([1, 2])
  expect(await heard.queue(name).inspect()).toMatchObject({ enqueued: 2, claimed: 0, ready: 0 })
}, 30_000)

test('a job of a user who may not publish events is done', async () => {
  const { heard, mute, name } = await setup()
  const queue = heard.queue<{ count: number }>(name)
  const ending = new AbortController()
  const listening = queue.events({ signal: ending.signal })[Symbol.asyncIterator]()
  listening.next().catch(() => undefined)
  await until('it is listened to', async () => (await heard.queue(name).inspect()).nowMs > 0)

  const { id } = await mute.queue<{ count: number }>(name).enqueue('count', 1, { id: 'one' })
  const claimed = await mute.queue<{ count: number }>(name).claim()
  for (const job of claimed) await job.ack()

  expect(id).toBe('one')
  expect(await queue.inspect()).toMatchObject({ claimed: 0, ready: 0 })
  ending.abort()
})

test('messages, and stored results, of a user who may not publish are there', async () => {
  const { heard, mute, name } = await setup()

  await mute.feed(name).append('a')
  await mute.feed(name).append('b')
  const result = await mute.once(name).run('key', () => 7)

  const { messages } = await heard.feed(name).read()
  expect(messages.map(({ body }) => body)).toEqual(['a', 'b'])
  expect(result).toBe(7)
})

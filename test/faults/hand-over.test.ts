// The holder of a lock that was handed to a waiter: with any subscribers, on any server.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { setup } from '../lock-fixture.ts'
import { until, withClient } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'
import { LockProcess } from './lock-processes.ts'

const port = inject('redisPort')

test('a waiter that waited longer than a moment has the lock for the requested lease', async () => {
  const { lock } = await setup({ clock: 'real', port })
  const held = await lock.acquire()
  const waiting = lock.acquire({ wait: '20s' })
  await sleep(400)

  await held.release()
  const { remainingMs } = await waiting

  expect(remainingMs).toBeGreaterThan(20_000)
})

test('a stalled process is waited for once, however many waiters it has in line', async () => {
  const { lock, name } = await setup({ clock: 'real', port })
  const held = await lock.acquire()
  const asleep = new LockProcess({ port, name, waiters: 30 })
  await until('thirty wait', async () => (await lock.inspect()).waiting === 30)
  asleep.stop()
  const awake = lock.acquire({ wait: '20s' })
  await until('one waits behind them', async () => (await lock.inspect()).waiting === 31)
  await sleep(300)

  await held.release()

  await (await awake).release()
  asleep.goOn()
})

test('a stalled process delays others only briefly, even with hundreds of waiters in line, readers and others', {
  timeout: 60_000,
}, async () => {
  const { lock, name } = await setup({ clock: 'real', port })
  const held = await lock.acquire()
  const asleep = new LockProcess({ port, name, waiters: 300 })
  await until('three hundred wait', async () => (await lock.inspect()).waiting === 300)
  asleep.stop()
  const awake = lock.acquire({ wait: '12s' })
  await until('one waits behind them', async () => (await lock.inspect()).waiting === 301)
  await sleep(300)

  await held.release()

  await (await awake).release()
  asleep.goOn()
})

test.each([
  ['want to read', 600, { reads: true }],
  ['wait for their chance only', 15, { barging: true }],
] as const)(
  'a stalled process delays others only briefly when many of its waiters %s',
  { timeout: 60_000 },
  async (_, waiters, how) => {
    const { lock, name } = await setup({ clock: 'real', port })
    const held = await lock.acquire()
    const asleep = new LockProcess({ port, name, waiters, ...how })
    await until('they wait', async () => (await lock.inspect()).waiting === waiters)
    asleep.stop()
    const awake = ('reads' in how ? lock : lock.shared).acquire({ wait: '12s' })
    await until('one waits behind them', async () => (await lock.inspect()).waiting === waiters + 1)
    await sleep(300)

    await held.release()

    await (await awake).release()
    asleep.goOn()
  },
)

test('a stalled process that waits for the exclusive lock does not keep readers out for as long as others read', {
  timeout: 60_000,
}, async () => {
  const { lock, name } = await setup({ clock: 'real', port })
  await using _ = await lock.shared.acquire()
  const asleep = new LockProcess({ port, name, waiters: 1 })
  await until('one waits', async () => (await lock.inspect()).waiting === 1)
  asleep.stop()

  await (await lock.shared.acquire({ wait: '40s' })).release()

  asleep.goOn()
})

test('a subscriber to all channels does not make dead waiters count as live', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const { lock, name, calls } = await setup({ clock: 'real', port: server.port })
  const held = await lock.acquire()
  const dead = new LockProcess({ port: server.port, name, waiters: 5 })
  await until('five wait', async () => (await lock.inspect()).waiting === 5)
  const spy = new Redis(server.port, '127.0.0.1')
  onTestFinished(() => spy.disconnect())
  await spy.psubscribe('*')
  const alive = lock.acquire({ wait: '20s' })
  await until('one waits behind them', async () => (await lock.inspect()).waiting === 6)
  await dead.kill()
  await until('the server has noticed', async () => (await listeners(server.port)) === 1)
  calls.length = 0

  await held.release()
  await alive

  expect(calls).toEqual(['lock/release'])
})

/** Connections that listen to channels by their names. */
async function listeners(at: number): Promise<number> {
  const list = String(await withClient(at, (client) => client.client('LIST')))
  return list.split('\n').filter((line) => / sub=[1-9]/.test(line)).length
}

test('processes that listen on a replica never run at the same time', { timeout: 60_000 }, async () => {
  const { primary, replica } = await withReplica()
  const work = new Work()
  const all = [1, 2, 3, 4].map(() => listeningElsewhere(primary, replica))

  await Promise.all(all.map((redis) => work.doAll(redis)))

  expect(work.together.lock).toBe(1)
  expect(work.together.semaphore).toBeLessThanOrEqual(2)
  expect(work.runsOfJobs).toEqual(Array.from({ length: 16 }, () => 1))
})

/** The concurrent work of four processes, and how many were seen at it at once. */
class Work {
  readonly #now = { lock: 0, semaphore: 0 }
  readonly together = { lock: 0, semaphore: 0 }
  readonly #jobs = new Map<number, number>()

  get runsOfJobs(): number[] {
    return [...this.#jobs.values()]
  }

  async doAll(redis: Perilune): Promise<void> {
    const queue = redis.queue<{ count: number }>('q')
    const count = ({ payload }: { payload: number }): void => {
      this.#jobs.set(payload, (this.#jobs.get(payload) ?? 0) + 1)
    }
    const worker = queue.work({ count }, { lease: '30s' })
    onTestFinished(() => worker.close())
    for (let round = 0; round < 4; round++) {
      await redis.lock('l').run(() => this.#do('lock'), { wait: '30s' })
      await redis.semaphore('s', { limit: 2 }).run(() => this.#do('semaphore'), { wait: '30s' })
      await queue.enqueue('count', Math.random())
    }
    await until('all jobs are done', async () => this.#jobs.size === 16)
  }

  async #do(what: 'lock' | 'semaphore'): Promise<void> {
    this.#now[what] += 1
    this.together[what] = Math.max(this.together[what], this.#now[what])
    await sleep(5)
    this.#now[what] -= 1
  }
}

/** Commands go to the primary; notifications come from the replica, as after a planned failover. */
function listeningElsewhere(primary: number, replica: number): Perilune {
  const [client, other] = [new Redis(primary, '127.0.0.1'), new Redis(replica, '127.0.0.1')]
  const [driver, ear] = [ioredis(client), ioredis(other)]
  driver.subscribe = (channel, listener) => ear.subscribe(channel, listener)
  const redis = perilune(driver, { namespace: `elsewhere-${primary}` })
  onTestFinished(async () => {
    await redis.close()
    await ear.close()
    client.disconnect()
    other.disconnect()
  })
  return redis
}

async function withReplica(): Promise<{ primary: number; replica: number }> {
  const primary = await startRedis()
  const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(primary.port)] })
  onTestFinished(async () => {
    await Promise.all([primary.stop(), replica.stop()])
  })
  await until('the replica follows', async () => {
    const info = String(await withClient(replica.port, (client) => client.info('replication')))
    return info.includes('master_link_status:up')
  })
  return { primary: primary.port, replica: replica.port }
}

// Lines in an older state: a server that continues from an older state, such as a promoted replica, has attempts in its
// lines that are over.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Lease, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { testClock } from 'perilune/testing'
import { expect, inject, onTestFinished, test } from 'vitest'
import { until } from '../servers/ask.ts'

/** An exclusive resource whose line contains attempts of one process. */
interface Line {
  acquire(waiting?: { wait: '20s' }): Promise<Lease>
  readonly byToken: { release(token: number): Promise<void> }
  inspect(): Promise<{ waiting: number }>
}

const lockOf = (redis: Perilune, name: string): Line => redis.lock(name)
const permitOf = (redis: Perilune, name: string): Line => redis.semaphore(name, { limit: 1 })
const readersOf = (redis: Perilune, name: string): Pick<Line, 'acquire'> => redis.lock(name).shared

function start(): { redis: Perilune; client: Redis } {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace: 'older-lines' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, client }
}

/** All keys of a name, as they are now; called, it puts them back. */
async function copyOf(client: Redis, name: string): Promise<() => Promise<void>> {
  const keys = await client.keys(`*${name}*`)
  const dumps = await Promise.all(keys.map(async (key) => [key, await client.dumpBuffer(key)] as const))
  return async () => {
    const newer = await client.keys(`*${name}*`)
    if (newer.length > 0) await client.del(newer)
    for (const [key, dump] of dumps) if (dump !== null) await client.restore(key, 600_000, dump)
  }
}

test.each([
  ['a lock comes to one who waits behind attempts of a process that are over', lockOf, lockOf],
  ['a lock comes to one who waits behind readers of a process that are over', lockOf, readersOf],
  ['a permit comes to one who waits behind attempts of a process that are over', permitOf, permitOf],
])('%s', async (_, lineOf, standersOf) => {
  const [{ redis, client }, other] = [start(), start()]
  // An offer without a recipient would stay open.
  testClock([redis, other.redis])
  const name = randomUUID()
  const line = lineOf(redis, name)
  const held = await line.acquire()
  const waiting = [1, 2].map(() => standersOf(redis, name).acquire({ wait: '20s' }))
  await until('two wait', async () => (await line.inspect()).waiting === 2)
  const putBack = await copyOf(client, name)
  await held.release()
  for (const each of waiting) await (await each).release()

  await putBack()
  const behind = lineOf(other.redis, name).acquire({ wait: '20s' })
  await until('another waits behind them', async () => (await line.inspect()).waiting === 3)
  await line.byToken.release(held.token)

  await expect(behind.then((lease) => lease.release())).resolves.toBeUndefined()
})

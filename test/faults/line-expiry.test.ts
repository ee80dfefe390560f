// The line of a lock or a semaphore expires if all its waiters have died, and never while one waits: joining it and
// calling again move the end.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { until } from '../servers/ask.ts'

const KEPT_MS = 7_200_000
/** So many tickets at most join a line without moving its end. */
const TICKETS_A_MOVE = 64

const kinds = [
  ['lock', (redis: Perilune, name: string) => redis.lock(name, { lease: '1m' })],
  ['semaphore', (redis: Perilune, name: string) => redis.semaphore(name, { limit: 1, lease: '1m' })],
] as const

test.each(kinds)(
  'the line of a %s expires two hours after the last that joined it or called',
  async (kind, of) => {
    const client = new Redis(inject('redisPort'))
    const redis = perilune(ioredis(client), { namespace: 'line-expiry' })
    onTestFinished(async () => {
      await redis.close()
      client.disconnect()
    })
    const name = randomUUID()
    const [queue, place] = [`line-expiry:{${kind}:${name}}:queue`, of(redis, name)]
    const given = new AbortController()
    const join = (): void => void place.acquire({ wait: '5m', signal: given.signal }).catch(() => undefined)
    const isKept = async (): Promise<boolean> => (await client.pttl(queue)) > KEPT_MS - 60_000
    const held = await place.acquire()

    join()
    await until('the first one is in line', async () => (await client.zcard(queue)) === 1)
    expect(await isKept()).toBe(true)

    await client.pexpire(queue, 60_000)
    for (let joined = 0; joined < TICKETS_A_MOVE; joined += 1) join()
    await until('all are in line', async () => (await client.zcard(queue)) === 1 + TICKETS_A_MOVE)
    expect(await isKept()).toBe(true)

    await client.pexpire(queue, 60_000)
    await until('one has called again', isKept)
    given.abort()
    await held.release()
  },
)

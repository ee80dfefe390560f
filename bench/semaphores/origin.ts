// Our ports of the semaphores of Redis in Action, chapter 6.3: the holders rank in a sorted set, by the time
// of their own clocks or by a shared counter; a lock around it closes the gap between the two round trips.

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Contender, Source, Terms } from '../locks/contender.ts'
import { openClient } from '../locks/origin-watch.ts'
import { Poller, type Try } from '../locks/poller.ts'

const LOCK_WAIT_MS = 10

export const rankedByTime: Contender = behindLock('origin, ranked by time', tryByTime)

export const rankedByCounter: Contender = behindLock('origin, ranked by counter', tryByCounter)

function behindLock(name: string, toTry: (connection: Redis, terms: Terms) => Try): Contender {
  return {
    name,
    settings: `behind the origin's first lock, ${LOCK_WAIT_MS} ms for it; a try each millisecond`,
    ownConnection: true,
    async connect(connection: Redis, terms: Terms): Promise<Source> {
      const lock = openClient(connection, { ...terms, giveUpMs: LOCK_WAIT_MS })
      const attempt = toTry(connection, terms)
      const locked: Try = async () => {
        const unlock = await lock.acquire().catch(() => null)
        if (unlock === null) return null
        try {
          return await attempt()
        } finally {
          await unlock()
        }
      }
      return { client: () => new Poller(locked, terms), close: async () => {} }
    },
  }
}

function tryByTime(connection: Redis, { name, limit, leaseMs }: Terms): Try {
  const holders = `origin-time:${name}`
  return async () => {
    const owner = randomUUID()
    const now = Date.now()
    const answers = await connection
      .multi()
      .zremrangebyscore(holders, '-inf', now - leaseMs)
      .zadd(holders, now, owner)
      .zrank(holders, owner)
      .exec()
    if (rankIn(answers) < limit) return () => connection.zrem(holders, owner)
    await connection.zrem(holders, owner)
    return null
  }
}

function tryByCounter(connection: Redis, { name, limit, leaseMs }: Terms): Try {
  const holders = `origin-counter:${name}`
  const [ranks, counter] = [`${holders}:owner`, `${holders}:counter`]
  return async () => {
    const owner = randomUUID()
    const now = Date.now()
    const counted = await connection
      .multi()
      .zremrangebyscore(holders, '-inf', now - leaseMs)
      .zinterstore(ranks, 2, ranks, holders, 'WEIGHTS', 1, 0)
      .incr(counter)
      .exec()
    const answers = await connection
      .multi()
      .zadd(holders, now, owner)
      .zadd(ranks, Number(counted?.at(-1)?.[1]), owner)
      .zrank(ranks, owner)
      .exec()
    const leave = (): Promise<unknown> => connection.multi().zrem(holders, owner).zrem(ranks, owner).exec()
    if (rankIn(answers) < limit) return leave
    await leave()
    return null
  }
}

/** The last answer of a transaction. */
function rankIn(answers: [error: Error | null, answer: unknown][] | null): number {
  const rank = answers?.at(-1)?.[1]
  return typeof rank === 'number' ? rank : Infinity
}

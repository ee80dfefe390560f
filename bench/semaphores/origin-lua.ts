// Our port of the semaphore of Redis in Action, chapter 11.2: removes the expired, counts and adds, in one
// script; the time is that of the caller.

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Contender, Source, Terms } from '../locks/contender.ts'
import { Poller, type Try } from '../locks/poller.ts'

/** ARGV: when those have begun whose time is over, limit, now, owner. */
const ACQUIRE = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[4])
  return ARGV[4]
end
`

export const originLua: Contender = {
  name: 'origin, Lua',
  settings: 'ZREMRANGEBYSCORE, ZCARD, ZADD; ZREM; a try each millisecond',
  async connect(connection: Redis, terms: Terms): Promise<Source> {
    const hash = String(await connection.script('LOAD', ACQUIRE))
    const key = `origin-lua:${terms.name}`
    const attempt: Try = async () => {
      const owner = randomUUID()
      const now = Date.now()
      const got = await connection.evalsha(hash, 1, key, now - terms.leaseMs, terms.limit, now, owner)
      return got === owner ? () => connection.zrem(key, owner) : null
    }
    return { client: () => new Poller(attempt, terms), close: async () => {} }
  },
}

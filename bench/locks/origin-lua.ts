// Our port of the same lock in Lua, Redis in Action, chapter 11.2: EXISTS and SETEX in one script, GET and
// DEL in another.

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Contender, Source, Terms } from './contender.ts'
import { Poller } from './poller.ts'

const ACQUIRE = `
if redis.call('EXISTS', KEYS[1]) == 0 then return redis.call('SETEX', KEYS[1], ARGV[1], ARGV[2]) end
`
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) or true end
`

export const originLua: Contender = {
  name: 'origin, Lua',
  settings: 'EXISTS and SETEX; GET and DEL; a try each millisecond',
  async connect(connection: Redis, terms: Terms): Promise<Source> {
    const acquire = String(await connection.script('LOAD', ACQUIRE))
    const release = String(await connection.script('LOAD', RELEASE))
    const key = `lock:${terms.name}`
    const lifeS = Math.ceil(terms.leaseMs / 1000)
    const attempt = async (): Promise<(() => Promise<unknown>) | null> => {
      const owner = randomUUID()
      const answer = await connection.evalsha(acquire, 1, key, lifeS, owner)
      return answer === 'OK' ? () => connection.evalsha(release, 1, key, owner) : null
    }
    return { client: () => new Poller(attempt, terms), close: async () => {} }
  },
}

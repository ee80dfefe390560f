// The least that a lock costs: one command to take it, one script to give it back.

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Contender, Source, Terms } from './contender.ts'
import { Poller } from './poller.ts'

const COMPARE_AND_DELETE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`

export const floor: Contender = {
  name: 'SET NX PX + compare-delete',
  settings: 'the floor: no fairness, no token; a try each millisecond',
  async connect(connection: Redis, terms: Terms): Promise<Source> {
    const hash = String(await connection.script('LOAD', COMPARE_AND_DELETE))
    const key = `floor:${terms.name}`
    const attempt = async (): Promise<(() => Promise<unknown>) | null> => {
      const owner = randomUUID()
      const answer = await connection.set(key, owner, 'PX', terms.leaseMs, 'NX')
      return answer === 'OK' ? () => connection.evalsha(hash, 1, key, owner) : null
    }
    return { client: () => new Poller(attempt, terms), close: async () => {} }
  },
}

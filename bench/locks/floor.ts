// The least that a lock costs: one command to take it, one script to give it back; and the least that costs
// one which keeps what we promise.

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

// By the server's clock, with a token that rises from holder to holder; but of no known layout, without a line
// to look at, and for callers without a holder name.
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local mode, last, ends = string.match(redis.call('GET', KEYS[1]) or '- 0 0', '(.) (%d+) (%d+)')
if mode == 'x' and tonumber(ends) > now then return { 'held', ends - now } end
local token = last + 1 > now and last + 1 or now
ends = now + ARGV[2] * 1000
redis.call('SET', KEYS[1], string.format('x %.0f %.0f ', token, ends) .. ARGV[1], 'PX', '1200000')
return { 'granted', token, ends, now }
`
const GIVE_BACK = `
local time = redis.call('TIME')
local known, ends = string.match(redis.call('GET', KEYS[1]) or '', 'x (%d+) (%d+)')
if known ~= ARGV[1] or tonumber(ends) <= time[1] * 1000000 + time[2] then return { 'lost' } end
redis.call('SETRANGE', KEYS[1], '0', '-')
return { 'released' }
`

export const promising: Contender = {
  name: 'the least that keeps the promises',
  settings: 'the floor of ours: clock and token, in two scripts, without a library; a try each millisecond',
  async connect(connection: Redis, terms: Terms): Promise<Source> {
    const take = String(await connection.script('LOAD', TAKE))
    const giveBack = String(await connection.script('LOAD', GIVE_BACK))
    const key = `promising:${terms.name}`
    const attempt = async (): Promise<(() => Promise<unknown>) | null> => {
      const [word, token] = (await connection.evalsha(take, 1, key, randomUUID(), terms.leaseMs)) as [
        string,
        number,
      ]
      return word === 'granted' ? () => connection.evalsha(giveBack, 1, key, token) : null
    }
    return { client: () => new Poller(attempt, terms), close: async () => {} }
  },
}

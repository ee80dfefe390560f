// What no limiter can do without: a script call; the least that counts, a script of INCR and EXPIRE; and the
// least that keeps what we promise.

import type { Redis } from 'ioredis'
import { type Contender, LIMIT, type Source, WINDOW_S } from './contender.ts'

const COUNT = `
local taken = redis.call('INCR', KEYS[1])
if taken == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return taken
`

// By the server's clock, exact, safe to repeat, of known layout, with an end, and telling what an answer needs;
// but of one limit and for one take a call. A unit costs whole microseconds and a rest in `1 / limit` of one.
const PROMISE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local call, limit, window = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local unit_rest = window % limit
local unit = (window - unit_rest) / limit
local stored = redis.call('HMGET', KEYS[1], 'layout', 'gcra', ARGV[2])
if stored[1] and stored[1] ~= '1' then return redis.error_reply('LAYOUT') end
if stored[3] then
  local number, token = struct.unpack('>dd', stored[3])
  if number >= call then return { 'taken', token } end
end
local kept, last, ahead, rest = 0, 0, 0, 0
if stored[2] then
  kept, last, ahead, rest = struct.unpack('>dddd', stored[2])
  ahead = ahead - now
  if ahead < 0 then ahead, rest = 0, 0 end
end
local next_rest = rest + unit_rest
local next_ahead = ahead + unit + (next_rest >= limit and 1 or 0)
if next_rest >= limit then next_rest = next_rest - limit end
local room = (window - next_ahead) * limit - next_rest
if room < 0 then return { 'denied', now, next_ahead - window } end
local token = last < now and now or last + 1
local prolong = now + next_ahead > kept - 10000000
if prolong then kept = now + next_ahead + 20000000 end
local counts, record = struct.pack('>dddd', kept, token, now + next_ahead, next_rest), struct.pack('>dd', call, token)
redis.call('HSET', KEYS[1], 'layout', '1', 'gcra', counts, ARGV[2], record)
if prolong then redis.call('PEXPIRE', KEYS[1], string.format('%.0f', (kept - now) / 1000)) end
return { 'taken', now, token, (room - room % window) / window, next_rest > 0 and next_ahead + 1 or next_ahead }
`

export const emptyScript: Contender = toContender(
  'empty script',
  'the floor: a key, nothing done',
  'return 1',
)

export const countingScript: Contender = toContender(
  'INCR and EXPIRE in a script',
  'a fixed window that only counts',
  COUNT,
)

export const promisingScript: Contender = toContender(
  'the least that keeps the promises',
  'the floor: clock, exact counts, token, record of the call, end of the key; one limit, one take a call',
  PROMISE,
)

function toContender(name: string, settings: string, script: string): Contender {
  return {
    name,
    settings,
    async connect(connection: Redis): Promise<Source> {
      const hash = String(await connection.script('LOAD', script))
      const tag = hash.slice(0, 8)
      const windowUs = WINDOW_S * 1_000_000
      let call = 0
      const take = (subject: string): Promise<unknown> =>
        connection.evalsha(hash, 1, `${tag}:{${subject}}`, WINDOW_S, 'floor.0', ++call, LIMIT, windowUs)
      return { take, close: async () => {} }
    },
  }
}

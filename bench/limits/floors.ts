// What no limiter can do without: a script call; the least that counts, a script of INCR and EXPIRE; and the
// least that keeps what we promise.

import type { Redis } from 'ioredis'
import { type Contender, LIMIT, type Source, WINDOW_S } from './contender.ts'

const COUNT = `
local taken = redis.call('INCR', KEYS[1])
if taken == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return taken
`

// By the server's clock, safe to repeat, of known layout, with an end; but inexact, and for one take a call.
const PROMISE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stored = redis.call('HMGET', KEYS[1], 'layout', 'gcra', ARGV[2])
if stored[1] and stored[1] ~= '1' then return redis.error_reply('LAYOUT') end
local call, unit, span = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if stored[3] then
  local number, token = struct.unpack('>dd', stored[3])
  if number >= call then return { 'taken', token } end
end
local kept, arrival = 0, now
if stored[2] then kept, arrival = struct.unpack('>dd', stored[2]) end
if arrival < now then arrival = now end
arrival = arrival + unit
if arrival - now > span then return { 'denied', arrival - now - span } end
local prolong = arrival > kept - 10000000
if prolong then kept = arrival + 20000000 end
local counts, record = struct.pack('>dd', kept, arrival), struct.pack('>dd', call, now)
redis.call('HSET', KEYS[1], 'layout', '1', 'gcra', counts, ARGV[2], record)
if prolong then redis.call('PEXPIRE', KEYS[1], string.format('%.0f', (kept - now) / 1000)) end
return { 'taken', now, now, (span - arrival + now) / unit, arrival - now }
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
  'the floor: clock, counts, record of the call, end of the key; no sums beyond those',
  PROMISE,
)

function toContender(name: string, settings: string, script: string): Contender {
  return {
    name,
    settings,
    async connect(connection: Redis): Promise<Source> {
      const hash = String(await connection.script('LOAD', script))
      const tag = hash.slice(0, 8)
      const unitUs = (WINDOW_S * 1_000_000) / LIMIT
      let call = 0
      const take = (subject: string): Promise<unknown> =>
        connection.evalsha(
          hash,
          1,
          `${tag}:{${subject}}`,
          WINDOW_S,
          'floor.0',
          ++call,
          unitUs,
          unitUs * LIMIT,
        )
      return { take, close: async () => {} }
    },
  }
}

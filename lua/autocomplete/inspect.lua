--[[
A picture of an index for people. `entries` counts those that have expired and are not reaped yet: `expired`.

@returns inspection  codec:text entries:integer words:integer hot:integer expiring:integer expired:integer
@cost    O(log entries)
@reads
]]
local meta = KEYS[1] -- hash: the state of the index, and the last call of every slot
local entries = KEYS[2] -- hash: number of an entry -> all that is stored of it
local words = KEYS[3] -- sorted set: folded text from a word start on, a zero byte, and the entry's place; no scores
local forks = KEYS[4] -- sorted set: prefix of many words up to where they part, zero byte, number of its top
local expiry = KEYS[5] -- sorted set: number of an entry -> when it expires, in ms

local index = open_index(meta, '', '')
if index.layout ~= INDEX_LAYOUT then
  return redis.error_reply('LAYOUT ' .. index.layout)
end
local now_ms = math.floor(clock_us() / 1000)
return {
  'inspection',
  index.codec,
  redis.call('HLEN', entries),
  redis.call('ZCARD', words),
  redis.call('ZLEXCOUNT', forks, '-', '(\255'),
  redis.call('ZCARD', expiry),
  redis.call('ZCOUNT', expiry, '-inf', exact(now_ms)),
}

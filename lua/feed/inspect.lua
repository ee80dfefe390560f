--[[
A picture of the feed. Its counts are exact when nothing is `due`; else call `settle` first. `delayed`
counts what waits to become visible, `dead` what the dead-letter feed stores.
`ends` holds the oldest and the newest message with the token of the claim that holds it (0: none);
`readers` the hundred subscribers that are furthest behind.

@returns inspection  epoch:integer last:integer now_ms:integer due:flag total:integer claimed:integer delayed:integer bytes:integer dead:integer claims:integer subscribers:integer codec:text ends:[position:integer id:integer expires_at_ms:integer claims:integer token:integer body:bytes] readers:[name:text position:integer protected:flag]
@cost    O(log n)
@reads
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local claimed = KEYS[3] -- sorted set: position -> token of its claim
local leases = KEYS[4] -- sorted set: token -> when the claim ends, in ms
local work = KEYS[5] -- hash: position -> claims so far, bytes, expiry, id
local delayed = KEYS[6] -- sorted set: id -> visible_at_us
local subscribers = KEYS[7] -- sorted set: subscriber -> position
local guards = KEYS[8] -- sorted set: protected subscriber -> position
local dead_log = KEYS[9] -- stream: the dead letters
local codec = ARGV[1] -- text: name of the codec that made the bodies

-- @include shared/clock
-- @include shared/feed/meta
-- @include shared/feed/entry
-- @include shared/feed/work
-- @include shared/feed/leases
-- @include shared/feed/due

local feed = open_feed(meta, codec)
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
if feed.codec ~= codec then
  return redis.error_reply('CODEC ' .. feed.codec)
end
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)

local function tell_end(answer, raw)
  if not raw then
    return
  end
  local entry = parse_entry(raw)
  complete_entries(work, { entry })
  local token = redis.call('ZSCORE', claimed, entry.place)
  local held = token and is_live(leases, token, now_ms)
  local told =
    { entry.position, entry.id, entry.expires_at_ms, entry.claims, held and tonumber(token) or 0, entry.body }
  for _, part in ipairs(told) do
    answer[#answer + 1] = part
  end
end

local ends = {}
tell_end(ends, redis.call('XRANGE', log, '-', '+', 'COUNT', '1')[1])
tell_end(ends, redis.call('XREVRANGE', log, '+', '-', 'COUNT', '1')[1])
local readers = {}
local furthest = redis.call('ZRANGE', subscribers, '0', '99', 'WITHSCORES')
for at = 1, #furthest, 2 do
  readers[#readers + 1] = furthest[at]
  readers[#readers + 1] = tonumber(furthest[at + 1])
  readers[#readers + 1] = redis.call('ZSCORE', guards, furthest[at]) and 1 or 0
end
local visible, waiting = redis.call('XLEN', log), redis.call('ZCARD', delayed)
return {
  'inspection',
  feed.epoch,
  feed.last,
  now_ms,
  is_due(feed, leases, now_us) and 1 or 0,
  visible + waiting,
  redis.call('ZCARD', claimed),
  waiting,
  feed.bytes,
  redis.call('XLEN', dead_log),
  redis.call('ZCARD', leases),
  redis.call('ZCARD', subscribers),
  feed.codec,
  ends,
  readers,
}

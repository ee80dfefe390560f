--[[
A picture of the feed. Its counts are exact when nothing is `due`; else call `settle` first. `delayed`
counts what waits to become visible, `dead` what the dead-letter feed stores; what is due there is `due` too.
`ends` holds the oldest and the newest message with the token of the claim that holds it (0: none);
`readers` the hundred subscribers that are furthest behind.

@returns inspection  epoch:integer last:integer now_ms:integer due:flag total:integer claimed:integer delayed:integer bytes:integer dead:integer claims:integer subscribers:integer codec:text ends:[position:integer id:integer expires_at_ms:integer claims:integer token:integer body:bytes] readers:[name:text position:integer protected:flag]
@cost    O(log n), and the bodies of two messages
@reads
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local early = KEYS[3] -- stream: the oldest visible messages, while the log is written anew
local bodies = KEYS[4] -- hash: id -> body, of those that are large
local claimed = KEYS[5] -- sorted set: position -> token of its claim
local leases = KEYS[6] -- sorted set: token -> when the claim ends, in ms
local work = KEYS[7] -- hash: position -> claims so far, bytes, expiry, id
local delayed = KEYS[8] -- sorted set: id -> visible_at_us
local subscribers = KEYS[9] -- sorted set: subscriber -> position
local guards = KEYS[10] -- sorted set: protected subscriber -> position
local dead_meta = KEYS[11] -- hash: state of the dead-letter feed
local dead_log = KEYS[12] -- stream: the dead letters
local dead_early = KEYS[13] -- stream: the same of the dead letters
local dead_leases = KEYS[14] -- sorted set: the same of the dead letters
local codec = ARGV[1] -- text: name of the codec that made the bodies

local keys = {
  log = log,
  early = early,
}
local dead_keys = { log = dead_log, early = dead_early }

local feed = open_feed(meta, codec)
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
if feed.codec ~= codec then
  return redis.error_reply('CODEC ' .. feed.codec)
end
local dead = open_feed(dead_meta, '')
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
  local holder = held and tonumber(token) or 0
  local body = body_of(bodies, entry)
  for _, part in ipairs({ entry.position, entry.id, entry.expires_at_ms, entry.claims, holder, body }) do
    answer[#answer + 1] = part
  end
end

local ends, newest = {}, redis.call('XREVRANGE', log, '+', '-', 'COUNT', '1')
tell_end(ends, raws_between(feed, log, early, 1, '+', 1)[1])
tell_end(ends, newest[1] or redis.call('XREVRANGE', early, '+', '-', 'COUNT', '1')[1])
local readers = {}
local furthest = redis.call('ZRANGE', subscribers, '0', '99', 'WITHSCORES')
for at = 1, #furthest, 2 do
  readers[#readers + 1] = furthest[at]
  readers[#readers + 1] = tonumber(furthest[at + 1])
  readers[#readers + 1] = redis.call('ZSCORE', guards, furthest[at]) and 1 or 0
end
local visible, waiting = log_length(feed, keys), redis.call('ZCARD', delayed)
local is_any_due = is_due(feed, leases, now_us) or is_due(dead, dead_leases, now_us)
return {
  'inspection',
  feed.epoch,
  feed.last,
  now_ms,
  is_any_due and 1 or 0,
  visible + waiting,
  redis.call('ZCARD', claimed),
  waiting,
  feed.bytes,
  log_length(dead, dead_keys),
  redis.call('ZCARD', leases),
  redis.call('ZCARD', subscribers),
  feed.codec,
  ends,
  readers,
}

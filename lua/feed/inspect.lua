--[[
Returns an overview of the feed. Its counts are exact when nothing is `due`; else call `settle` first. `delayed` counts
messages that wait to become visible, `dead` the messages stored in the dead-letter feed; `due` includes due work there.
`ends` holds the oldest and the newest message with the token of the claim that holds it (0: none); `readers` the
hundred subscribers with the oldest positions.

@returns inspection  epoch:integer last:integer now_ms:integer due:flag total:integer claimed:integer delayed:integer bytes:integer dead:integer claims:integer subscribers:integer codec:text ends:[position:integer id:integer expires_at_ms:integer claims:integer token:integer body:bytes] readers:[name:text position:integer protected:flag]
@cost    O(log n), and the bodies of two messages
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the bodies

local dead_keys = { log = keys.dead_log, early = keys.dead_early }

local feed = try(open_feed(keys.meta, '', codec))
local dead = read_feed(keys.dead_meta, '')
feed.now_us = clock_us()
feed.now_ms = math.floor(feed.now_us / 1000)
dead.now_us, dead.now_ms = feed.now_us, feed.now_ms

local function report_end(answer, raw)
  if not raw then
    return
  end
  local entry = parse_entry(raw)
  complete_entries(keys.work, { entry })
  local token = redis.call('ZSCORE', keys.claimed, entry.place)
  local held = token and is_live(keys, feed, token)
  local holder = held and tonumber(token) or 0
  local body = body_of(keys.bodies, entry)
  for _, part in ipairs({ entry.position, entry.id, entry.expires_at_ms, entry.claims, holder, body }) do
    answer[#answer + 1] = part
  end
end

local ends, newest = {}, redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', '1')
report_end(ends, raws_between(keys, feed, 1, '+', 1)[1])
report_end(ends, newest[1] or redis.call('XREVRANGE', keys.early, '+', '-', 'COUNT', '1')[1])
local readers = {}
local furthest = redis.call('ZRANGE', keys.subscribers, '0', '99', 'WITHSCORES')
for at = 1, #furthest, 2 do
  readers[#readers + 1] = furthest[at]
  readers[#readers + 1] = tonumber(furthest[at + 1])
  readers[#readers + 1] = redis.call('ZSCORE', keys.guards, furthest[at]) and 1 or 0
end
local visible, waiting = log_length(keys, feed), redis.call('ZCARD', keys.delayed)
local is_any_due = is_due(keys.leases, feed) or is_due(keys.dead_leases, dead)
return {
  'inspection',
  feed.epoch,
  feed.last,
  feed.now_ms,
  is_any_due and 1 or 0,
  visible + waiting,
  redis.call('ZCARD', keys.claimed),
  waiting,
  feed.bytes,
  log_length(dead_keys, dead),
  redis.call('ZCARD', keys.leases),
  redis.call('ZCARD', keys.subscribers),
  feed.codec,
  ends,
  readers,
}

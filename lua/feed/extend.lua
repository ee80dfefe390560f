--[[
Makes a claim last longer, counted from now. A claim that has ended is never brought back.

@returns extended  expires_at_ms:integer
@returns lost
@cost    O(messages of the claim x log n)
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local early = KEYS[3] -- stream: the oldest visible messages, while the log is written anew
local bodies = KEYS[4] -- hash: id -> body, of those that are large
local claimed = KEYS[5] -- sorted set: position -> token of its claim
local leases = KEYS[6] -- sorted set: token -> when the claim ends, in ms
local returned = KEYS[7] -- sorted set: positions that are free again
local work = KEYS[8] -- hash: position -> claims so far, bytes, expiry, id
local expiry = KEYS[9] -- sorted set: position -> expires_at_ms, where not in the lane
local delayed = KEYS[10] -- sorted set: id -> visible_at_us
local parked = KEYS[11] -- hash: id -> delayed message, later its position
local subscribers = KEYS[12] -- sorted set: subscriber -> position
local guards = KEYS[13] -- sorted set: protected subscriber -> position
local token = ARGV[1] -- text: token of the claim
local lease_ms = tonumber(ARGV[2]) -- integer: how long the claim lasts from now
local grace_ms = tonumber(ARGV[3]) -- integer: how long messages live beyond it at least

local feed = open_feed(meta, '')
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
local now_ms = math.floor(clock_us() / 1000)
if not is_live(leases, token, now_ms) then
  return { 'lost' }
end
local expires_at_ms = now_ms + lease_ms
-- What frees comes first, so that it also works when the server is out of memory.
redis.call('HDEL', work, '')
redis.call('ZADD', leases, expires_at_ms, token)
local records = { lease_field(token), lease_ms }
local prolonged = prolong_entries(feed, expiry, work_of(claimed, work, token), expires_at_ms + grace_ms)
for _, entry in ipairs(prolonged) do
  records[#records + 1] = entry.place
  records[#records + 1] = format_work(entry)
end
redis.call('HSET', work, unpack(records))
local touched = { leases, work, expiry }
for _, key in ipairs(touched) do
  keep_with_feed(feed, key, now_ms)
end
if must_move(feed, now_ms) then
  local moving = {
    meta,
    log,
    early,
    bodies,
    claimed,
    leases,
    returned,
    work,
    expiry,
    delayed,
    parked,
    subscribers,
    guards,
  }
  move_keys(feed, moving, now_ms)
end
save_feed(meta, feed)
return { 'extended', expires_at_ms }

--[[
Does what time has made due: delayed messages become visible, claims that ran out are freed, expired
messages go. Every writing operation does a little of it; this one does a lot, for those who must not
wait. `more`: call again.

@returns settled  more:flag
@cost    at most 1000 delayed, 1000 claimed (or one claim), 1000 expired messages and 256 that are written anew, O(log n)
         each, and 4 MiB of each kind
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
local channel = ARGV[1] -- text: where those who wait listen; empty: nobody waits
local sharded = ARGV[2] == '1' -- flag: whether that is a sharded channel

local keys = {
  meta = meta,
  log = log,
  early = early,
  bodies = bodies,
  claimed = claimed,
  leases = leases,
  returned = returned,
  work = work,
  expiry = expiry,
  delayed = delayed,
  parked = parked,
  subscribers = subscribers,
}

local feed = open_feed(meta, '')
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local shown = 0
if feed.visible_at_us ~= 0 and feed.visible_at_us <= now_us then
  shown = show_due(feed, keys, now_us, 1000)
end
local freed = lapse_claims(leases, claimed, returned, work, now_ms, 1000)
if feed.due_at ~= 0 and feed.due_at <= now_ms then
  reap_expired(feed, keys, now_ms, 500)
end
if feed.look or feed.moved ~= 0 then
  compact(feed, keys, now_ms, 200)
end
local touched = { log, bodies, expiry, parked, returned }
for _, key in ipairs(touched) do
  keep_with_feed(feed, key, now_ms)
end
if may_rest(feed) then
  rest_when_empty(feed, keys, now_ms)
end
save_feed(meta, feed)
if shown + freed > 0 then
  wake(channel, sharded, 'settled')
end
return { 'settled', is_due(feed, leases, now_us) and 1 or 0 }

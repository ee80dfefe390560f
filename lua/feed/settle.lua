--[[
Does what time has made due: delayed messages become visible, claims that ran out are freed, expired
messages go. Every writing operation does a little of it; this one does a lot, for those who must not
wait. `more`: call again.

@returns settled  more:flag
@cost    at most 1000 delayed, 1000 claimed (or one claim) and 1000 expired messages, O(log n) each
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local claimed = KEYS[3] -- sorted set: position -> token of its claim
local leases = KEYS[4] -- sorted set: token -> when the claim ends, in ms
local returned = KEYS[5] -- sorted set: positions that are free again
local work = KEYS[6] -- hash: position -> claims so far, bytes, expiry, id
local expiry = KEYS[7] -- sorted set: position -> expires_at_ms, where not in the lane
local delayed = KEYS[8] -- sorted set: id -> visible_at_us
local parked = KEYS[9] -- hash: id -> delayed message, later its position
local channel = ARGV[1] -- text: where those who wait listen; empty: nobody waits
local sharded = ARGV[2] == '1' -- flag: whether that is a sharded channel

-- @include shared/exact
-- @include shared/clock
-- @include shared/wake
-- @include shared/feed/meta
-- @include shared/feed/save
-- @include shared/feed/entry
-- @include shared/feed/add-entry
-- @include shared/feed/remove
-- @include shared/feed/expiry
-- @include shared/feed/show-due
-- @include shared/feed/leases
-- @include shared/feed/lapse
-- @include shared/feed/keep-alive
-- @include shared/feed/due

local feed = open_feed(meta, '')
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local shown = show_due(feed, log, expiry, delayed, parked, now_us, 1000)
local freed = lapse_claims(leases, claimed, returned, work, now_ms, 1000)
reap_expired(feed, log, claimed, returned, expiry, work, parked, now_ms, 500)
local touched = { log, expiry, parked, returned }
for _, key in ipairs(touched) do
  keep_with_feed(feed, key, now_ms)
end
save_feed(meta, feed)
if shown + freed > 0 then
  wake(channel, sharded, 'settled')
end
return { 'settled', is_due(feed, leases, now_us) and 1 or 0 }

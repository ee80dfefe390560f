--[[
Performs work that is due: delayed messages become visible, messages of ended claims become free, expired messages
disappear. Every writing operation does a little of it. This one does a lot, for callers that must not wait. `more`:
call again.

@returns settled  more:flag
@cost    at most 1000 delayed, 1000 claimed (or one claim), 1000 expired messages and 256 that are rewritten, O(log n)
         each, and 4 MiB of each kind
]]
local channel = ARGV[1] -- text: channel of the waiters; empty: there are none
local sharded = ARGV[2] == '1' -- flag: whether that is a sharded channel

local feed = try(open_feed(keys.meta, ''))
feed.now_us = clock_us()
feed.now_ms = math.floor(feed.now_us / 1000)
local shown = 0
if has_come(feed.visible_at_us, feed.now_us) then
  shown = show_due(keys, feed, 1000)
end
local freed = lapse_claims(keys, feed, 1000)
if has_come(feed.due_at, feed.now_ms) then
  reap_expired(keys, feed, 500)
end
if feed.look or feed.moved ~= 0 then
  compact(keys, feed, 200)
end
local touched = { keys.log, keys.bodies, keys.expiry, keys.parked, keys.returned }
for _, key in ipairs(touched) do
  keep_with_feed(feed, key)
end
if may_rest(feed) then
  rest_when_empty(keys, feed)
end
save_feed(keys.meta, feed)
if shown + freed > 0 then
  wake(channel, sharded, 'settled')
end
return { 'settled', is_due(keys.leases, feed) and 1 or 0 }

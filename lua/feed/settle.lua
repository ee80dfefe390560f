--[[
Does what time has made due: delayed messages become visible, claims that ran out are freed, expired
messages go. Every writing operation does a little of it; this one does a lot, for those who must not
wait. `more`: call again.

@returns settled  more:flag
@cost    at most 1000 delayed, 1000 claimed (or one claim), 1000 expired messages and 256 that are written anew, O(log n)
         each, and 4 MiB of each kind
]]
local channel = ARGV[1] -- text: where those who wait listen; empty: nobody waits
local sharded = ARGV[2] == '1' -- flag: whether that is a sharded channel

local feed = try(open_feed(keys.meta, ''))
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local shown = 0
if feed.visible_at_us ~= 0 and feed.visible_at_us <= now_us then
  shown = show_due(feed, keys, now_us, 1000)
end
local freed = lapse_claims(keys.leases, keys.claimed, keys.returned, keys.work, now_ms, 1000)
if feed.due_at ~= 0 and feed.due_at <= now_ms then
  reap_expired(feed, keys, now_ms, 500)
end
if feed.look or feed.moved ~= 0 then
  compact(feed, keys, now_ms, 200)
end
local touched = { keys.log, keys.bodies, keys.expiry, keys.parked, keys.returned }
for _, key in ipairs(touched) do
  keep_with_feed(feed, key, now_ms)
end
if may_rest(feed) then
  rest_when_empty(feed, keys, now_ms)
end
save_feed(keys.meta, feed)
if shown + freed > 0 then
  wake(channel, sharded, 'settled')
end
return { 'settled', is_due(feed, keys.leases, now_us) and 1 or 0 }

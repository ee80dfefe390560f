--[[
Makes a subscriber, or finds the one of that name where it stands. A feed with subscribers does not
vanish by itself. Retention keeps what a protected subscriber has not passed yet;
one stays protected until it is forgotten.

@returns subscribed  marker:text created:flag
@returns unagreed
@cost    O(log subscribers)
]]
local codec = ARGV[1] -- text: name of the codec that made the bodies
local partitions = tonumber(ARGV[2]) -- integer: over how many the feed is spread; 0: it is not
local proof = ARGV[3] -- text: what propose answered, where the partition is not agreed upon yet; else empty
local name = ARGV[4] -- text: the subscriber
local from = ARGV[5] -- text: marker where a new one begins; empty: the oldest message; 'end': only what comes
local protected = ARGV[6] == '1' -- flag: whether retention waits for it

local feed = try(open_feed(keys.meta, '', codec, partitions))
if feed.partitions ~= partitions and not take_up(keys.meta, partitions, proof) then
  return { 'unagreed' }
end
local start = where_to_start(feed, from)
if not start then
  return redis.error_reply('INVALID from: not a marker')
end
local now_us = clock_us()
local known = tonumber(redis.call('ZSCORE', keys.subscribers, name) or nil)
local position = known or start.position
if not known then
  redis.call('ZADD', keys.subscribers, exact(position), name)
end
if protected then
  redis.call('ZADD', keys.guards, exact(position), name)
end
begin_feed(keys.meta, feed, now_us)
feed.lives_until = -1
if must_move(feed, math.floor(now_us / 1000)) then
  local moving = {
    keys.meta,
    keys.log,
    keys.early,
    keys.bodies,
    keys.claimed,
    keys.leases,
    keys.returned,
    keys.work,
    keys.expiry,
    keys.delayed,
    keys.parked,
    keys.subscribers,
    keys.guards,
  }
  move_keys(feed, moving, math.floor(now_us / 1000))
end
save_feed(keys.meta, feed)
return { 'subscribed', format_marker(feed.epoch, position), known and 0 or 1 }

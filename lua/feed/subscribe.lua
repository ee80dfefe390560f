--[[
Makes a subscriber, or finds the one of that name where it stands. A feed with subscribers does not
vanish by itself. Retention keeps what a protected subscriber has not passed yet;
one stays protected until it is forgotten.

@returns subscribed  cursor:text created:flag
@returns unagreed
@cost    O(log subscribers)
]]
local codec = ARGV[1] -- text: name of the codec that made the bodies
local spread = ARGV[2] -- PARTITIONS: over how many the feed is spread
local name = ARGV[4] -- text: the subscriber
local from = ARGV[5] -- text: cursor where a new one begins; empty: the oldest message; 'end': only what comes
local protected = ARGV[6] == '1' -- flag: whether retention waits for it

local feed = try(open_feed(keys.meta, '', codec, spread.partitions))
if not take_up(keys.meta, feed, spread) then
  return { 'unagreed' }
end
local start = where_to_start(feed, from)
if not start then
  return redis.error_reply('INVALID from: not a cursor')
end
feed.now_us = clock_us()
feed.now_ms = math.floor(feed.now_us / 1000)
local known = tonumber(redis.call('ZSCORE', keys.subscribers, name) or nil)
local position = known or start.position
if not known then
  redis.call('ZADD', keys.subscribers, exact(position), name)
end
if protected then
  redis.call('ZADD', keys.guards, exact(position), name)
end
begin_feed(keys.meta, feed)
feed.lives_until = -1
if must_move(feed) then
  move_all(keys, feed)
end
save_feed(keys.meta, feed)
return { 'subscribed', format_cursor(feed.epoch, position), known and 0 or 1 }

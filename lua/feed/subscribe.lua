--[[
Creates a subscriber, or returns the position of an existing one. A feed with subscribers does not expire. Retention
keeps messages that a protected subscriber has not passed yet; a subscriber stays protected until it is removed.

@returns subscribed  cursor:text created:flag
@returns unagreed
@cost    O(log subscribers)
]]
local codec = ARGV[1] -- text: name of the codec that made the bodies
local spread = ARGV[2] -- PARTITIONS: number of partitions of the feed
local name = ARGV[4] -- text: the subscriber
local from = ARGV[5] -- text: start cursor of a new subscriber; empty: the oldest message; 'end': only new messages
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

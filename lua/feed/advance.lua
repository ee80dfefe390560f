--[[
Moves a subscriber forward to a marker; back only when told to rewind. One that was read before the feed began is its
beginning. A marker of an earlier life of the feed, or a subscriber that does not exist, is answered with absent.

@returns advanced  marker:text
@returns absent
@cost    O(log subscribers)
]]
local name = ARGV[1] -- text: the subscriber
local to = ARGV[2] -- text: the marker
local rewind = ARGV[3] == '1' -- flag: whether it may move back

local feed = try(open_feed(keys.meta, ''))
local marker = parse_marker(to)
if not marker then
  return redis.error_reply('INVALID to: not a marker')
end
local known = tonumber(redis.call('ZSCORE', keys.subscribers, name) or nil)
if not known or (marker.epoch ~= feed.epoch and marker.epoch ~= 0) then
  return { 'absent' }
end
local position = marker.epoch == 0 and 0 or math.min(marker.position, feed.last)
if not rewind then
  position = math.max(position, known)
end
redis.call('ZADD', keys.subscribers, exact(position), name)
if redis.call('ZSCORE', keys.guards, name) then
  redis.call('ZADD', keys.guards, exact(position), name)
end
return { 'advanced', format_marker(feed.epoch, position) }

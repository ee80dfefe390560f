--[[
Moves a subscriber forward to a cursor; back only with `rewind`. A cursor read before the feed began means its
beginning. The answer is absent for a cursor of an earlier life of the feed, or a subscriber that does not exist.

@returns committed  cursor:text
@returns absent
@cost    O(log subscribers)
]]
local name = ARGV[1] -- text: the subscriber
local to = ARGV[2] -- text: the cursor
local rewind = ARGV[3] == '1' -- flag: whether it may move back

local feed = try(open_feed(keys.meta, ''))
local cursor = parse_cursor(to)
if not cursor then
  return redis.error_reply('INVALID to: not a cursor')
end
local known = tonumber(redis.call('ZSCORE', keys.subscribers, name) or nil)
if not known or (cursor.epoch ~= feed.epoch and cursor.epoch ~= 0) then
  return { 'absent' }
end
local position = cursor.epoch == 0 and 0 or math.min(cursor.position, feed.last)
if not rewind then
  position = math.max(position, known)
end
redis.call('ZADD', keys.subscribers, exact(position), name)
if redis.call('ZSCORE', keys.guards, name) then
  redis.call('ZADD', keys.guards, exact(position), name)
end
return { 'committed', format_cursor(feed.epoch, position) }

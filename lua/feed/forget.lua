--[[
Removes a subscriber.

@returns forgotten
@returns absent
@cost    O(log subscribers)
]]
local meta = KEYS[1] -- hash: the feed's state
local subscribers = KEYS[2] -- sorted set: subscriber -> position
local guards = KEYS[3] -- sorted set: protected subscriber -> position
local name = ARGV[1] -- text: the subscriber

-- @include shared/feed/meta

local feed = open_feed(meta, '')
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
redis.call('ZREM', guards, name)
if redis.call('ZREM', subscribers, name) == 1 then
  return { 'forgotten' }
end
return { 'absent' }

--[[
Removes a subscriber. After the last one is removed, the remains of an empty feed expire.

@returns forgotten
@returns absent
@cost    O(log subscribers)
]]
local name = ARGV[1] -- text: the subscriber

local feed = try(open_feed(keys.meta, ''))
redis.call('ZREM', keys.guards, name)
if redis.call('ZREM', keys.subscribers, name) == 0 then
  return { 'absent' }
end
if may_rest(feed) then
  feed.now_ms = math.floor(clock_us() / 1000)
  rest_when_empty(keys, feed)
  save_feed(keys.meta, feed)
end
return { 'forgotten' }

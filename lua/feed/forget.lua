--[[
Removes a subscriber. With the last one goes, after a while, what is left of a feed that is empty.

@returns forgotten
@returns absent
@cost    O(log subscribers)
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local early = KEYS[3] -- stream: the oldest visible messages, while the log is written anew
local leases = KEYS[4] -- sorted set: token -> when the claim ends, in ms
local work = KEYS[5] -- hash: position -> claims so far, bytes, expiry, id
local subscribers = KEYS[6] -- sorted set: subscriber -> position
local guards = KEYS[7] -- sorted set: protected subscriber -> position
local name = ARGV[1] -- text: the subscriber

local feed = open_feed(meta, '')
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
redis.call('ZREM', guards, name)
if redis.call('ZREM', subscribers, name) == 0 then
  return { 'absent' }
end
if may_rest(feed) then
  local keys = {
    meta = meta,
    log = log,
    early = early,
    leases = leases,
    work = work,
    subscribers = subscribers,
  }
  rest_when_empty(feed, keys, math.floor(clock_us() / 1000))
  save_feed(meta, feed)
end
return { 'forgotten' }

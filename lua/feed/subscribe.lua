--[[
Makes a subscriber, or finds the one of that name where it stands. A feed with subscribers does not
vanish by itself. Retention keeps what a protected subscriber has not passed yet;
one stays protected until it is forgotten.

@returns subscribed  marker:text created:flag
@returns unagreed
@cost    O(log subscribers)
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local early = KEYS[3] -- stream: the oldest visible messages, while the log is written anew
local bodies = KEYS[4] -- hash: id -> body, of those that are large
local claimed = KEYS[5] -- sorted set: position -> token of its claim
local leases = KEYS[6] -- sorted set: token -> when the claim ends, in ms
local returned = KEYS[7] -- sorted set: positions that are free again
local work = KEYS[8] -- hash: position -> claims so far, bytes, expiry, id
local expiry = KEYS[9] -- sorted set: position -> expires_at_ms, where not in the lane
local delayed = KEYS[10] -- sorted set: id -> visible_at_us
local parked = KEYS[11] -- hash: id -> delayed message, later its position
local subscribers = KEYS[12] -- sorted set: subscriber -> position
local guards = KEYS[13] -- sorted set: protected subscriber -> position
local codec = ARGV[1] -- text: name of the codec that made the bodies
local partitions = tonumber(ARGV[2]) -- integer: over how many the feed is spread; 0: it is not
local proof = ARGV[3] -- text: what propose answered, where the partition is not agreed upon yet; else empty
local name = ARGV[4] -- text: the subscriber
local from = ARGV[5] -- text: marker where a new one begins; empty: the oldest message; 'end': only what comes
local protected = ARGV[6] == '1' -- flag: whether retention waits for it

local feed = open_feed(meta, codec)
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
if feed.codec ~= codec then
  return redis.error_reply('CODEC ' .. feed.codec)
end
if feed.partitions ~= partitions then
  if feed.partitions > 0 then
    return redis.error_reply('PARTITIONS ' .. feed.partitions)
  end
  -- Only here: a script makes its functions anew in every call.
  if not take_up(meta, partitions, proof) then
    return { 'unagreed' }
  end
end
local start = where_to_start(feed, from)
if not start then
  return redis.error_reply('INVALID from: not a marker')
end
local now_us = clock_us()
local known = tonumber(redis.call('ZSCORE', subscribers, name) or nil)
local position = known or start.position
if not known then
  redis.call('ZADD', subscribers, exact(position), name)
end
if protected then
  redis.call('ZADD', guards, exact(position), name)
end
begin_feed(meta, feed, now_us)
feed.lives_until = -1
if must_move(feed, math.floor(now_us / 1000)) then
  local moving = {
    meta,
    log,
    early,
    bodies,
    claimed,
    leases,
    returned,
    work,
    expiry,
    delayed,
    parked,
    subscribers,
    guards,
  }
  move_keys(feed, moving, math.floor(now_us / 1000))
end
save_feed(meta, feed)
return { 'subscribed', format_marker(feed.epoch, position), known and 0 or 1 }

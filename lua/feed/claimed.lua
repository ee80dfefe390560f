--[[
Shows a claim: what it holds and how long it lasts.

@returns claimed  epoch:integer lease_ms:integer expires_at_ms:integer now_ms:integer messages:[position:integer id:integer expires_at_ms:integer claims:integer body:bytes]
@returns lost
@cost    O(messages of the claim x log n), and its bodies: 4 MiB, as of any claim
@reads
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local early = KEYS[3] -- stream: the oldest visible messages, while the log is written anew
local bodies = KEYS[4] -- hash: id -> body, of those that are large
local claimed = KEYS[5] -- sorted set: position -> token of its claim
local leases = KEYS[6] -- sorted set: token -> when the claim ends, in ms
local work = KEYS[7] -- hash: position -> claims so far, bytes, expiry, id
local codec = ARGV[1] -- text: name of the codec that made the bodies
local token = ARGV[2] -- text: token of the claim

local keys = {
  log = log,
  early = early,
  claimed = claimed,
  work = work,
}

local feed = open_feed(meta, codec)
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
if feed.codec ~= codec then
  return redis.error_reply('CODEC ' .. feed.codec)
end
local now_ms = math.floor(clock_us() / 1000)
if not is_live(leases, token, now_ms) then
  return { 'lost' }
end
local lease_ms = tonumber(redis.call('HGET', work, lease_field(token)))
local expires_at_ms = tonumber(redis.call('ZSCORE', leases, token))
return {
  'claimed',
  feed.epoch,
  lease_ms,
  expires_at_ms,
  now_ms,
  tell_messages(claimed_entries(feed, keys, token), bodies),
}

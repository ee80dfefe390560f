--[[
Claims free messages for a while, oldest first. Until its lease ends nobody else gets them.
A message lives at least as long as its claim and the grace behind it. One that was claimed
`max_claims` times already becomes a dead letter instead, in the feed's own dead-letter feed.
Repeating the call gives the same claim again while it is live.

@returns claimed  epoch:integer token:integer expires_at_ms:integer now_ms:integer dead:integer messages:[position:integer id:integer expires_at_ms:integer claims:integer body:bytes]
@returns empty    dead:integer recheck_ms:integer
@cost    O(limit x log n), and at most 200 expired or dead messages, 100 delayed ones, 1000 of lapsed claims
]]
local meta = KEYS[1] -- hash: the feed's state
local log = KEYS[2] -- stream: the visible messages, by position
local claimed = KEYS[3] -- sorted set: position -> token of its claim
local leases = KEYS[4] -- sorted set: token -> when the claim ends, in ms
local returned = KEYS[5] -- sorted set: positions that are free again
local work = KEYS[6] -- hash: position -> claims so far, bytes, expiry, id
local expiry = KEYS[7] -- sorted set: position -> expires_at_ms, where not in the lane
local delayed = KEYS[8] -- sorted set: id -> visible_at_us
local parked = KEYS[9] -- hash: id -> delayed message, later its position
local once = KEYS[10] -- hash: idempotency key -> id
local subscribers = KEYS[11] -- sorted set: subscriber -> position
local guards = KEYS[12] -- sorted set: protected subscriber -> position
local dead_meta = KEYS[13] -- hash: state of the dead-letter feed
local dead_log = KEYS[14] -- stream: the dead letters
local dead_expiry = KEYS[15] -- sorted set: position -> expires_at_ms of dead letters
local dead_parked = KEYS[16] -- hash: id -> position of dead letters
local codec = ARGV[1] -- text: name of the codec that made the bodies
local partitions = tonumber(ARGV[2]) -- integer: over how many the feed is spread; 0: it is not
local caller = ARGV[3] -- text: process and slot; empty: the call is not remembered
local call = ARGV[4] -- text: number of the call in that slot
local limit = tonumber(ARGV[5]) -- integer: messages to claim at most
local lease_ms = tonumber(ARGV[6]) -- integer: how long the claim lasts
local grace_ms = tonumber(ARGV[7]) -- integer: how long messages live beyond it at least
local max_claims = tonumber(ARGV[8]) -- integer: claims after which a message is dead; 0: never
local dead_ms = tonumber(ARGV[9]) -- integer: how long a dead letter lives; 0: as long as it would have
local dead_channel = ARGV[10] -- text: where those wait who read dead letters
local sharded = ARGV[11] == '1' -- flag: whether that is a sharded channel

-- @include shared/exact
-- @include shared/clock
-- @include shared/calls
-- @include shared/wake
-- @include shared/feed/meta
-- @include shared/feed/save
-- @include shared/feed/entry
-- @include shared/feed/add-entry
-- @include shared/feed/work
-- @include shared/feed/remove
-- @include shared/feed/expiry
-- @include shared/feed/show-due
-- @include shared/feed/leases
-- @include shared/feed/claimed-entries
-- @include shared/feed/lapse
-- @include shared/feed/free
-- @include shared/feed/open-claim
-- @include shared/feed/bury
-- @include shared/feed/prolong
-- @include shared/feed/recheck
-- @include shared/feed/keep-alive

local feed = open_feed(meta, codec, caller)
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
if feed.codec ~= codec then
  return redis.error_reply('CODEC ' .. feed.codec)
end
if feed.partitions > 0 and feed.partitions ~= partitions then
  return redis.error_reply('PARTITIONS ' .. feed.partitions)
end
local dead = max_claims > 0 and open_feed(dead_meta, codec) or { layout = FEED_LAYOUT }
if dead.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. dead.layout)
end
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local remembered, superseded = recall(feed.record, call)
if superseded then
  return redis.error_reply('INVALID call: a later one has taken its slot')
end
local known_token = remembered
if known_token and is_live(leases, known_token, now_ms) then
  local ends_at_ms = tonumber(redis.call('ZSCORE', leases, known_token))
  local messages = tell_messages(claimed_entries(log, claimed, work, known_token))
  return { 'claimed', feed.epoch, tonumber(known_token), ends_at_ms, now_ms, 0, messages }
end
if feed.epoch == 0 then
  return { 'empty', 0, 0 }
end

local freed = lapse_claims(leases, claimed, returned, work, now_ms, 1000)
local shown = show_due(feed, log, expiry, delayed, parked, now_us, 100)
local found = { free = {}, dead = {}, expired = {}, count = 0, bytes = 0 }
find_returned(found, log, returned, work, limit, max_claims, now_ms)
find_fresh(found, feed, log, limit, max_claims, now_ms)

local expires_at_ms = now_ms + lease_ms
if #found.free > 0 then
  feed.token = math.max(feed.token + 1, now_us)
  prolong_entries(feed, expiry, found.free, expires_at_ms + grace_ms)
  open_claim(leases, claimed, returned, work, exact(feed.token), expires_at_ms, lease_ms, found.free)
end
if #found.dead > 0 then
  -- It is used as soon as this partition is.
  dead.partitions = feed.partitions
  begin_feed(dead_meta, dead, now_us)
  bury_entries(dead, dead_log, dead_expiry, dead_parked, found.dead, dead_ms, now_us)
  save_feed(dead_meta, dead)
  local dead_keys = { dead_meta, dead_log, dead_expiry, dead_parked }
  move_keys(dead, dead_keys, now_ms)
  wake(dead_channel, sharded, 'appended')
end
remove_entries(feed, log, claimed, returned, expiry, work, parked, found.dead)
remove_entries(feed, log, claimed, returned, expiry, work, parked, found.expired)

if #found.free > 0 then
  remember_answer(meta, caller, call, now_ms, exact(feed.token))
end
if #found.free + freed + shown > 0 then
  local used = { log, claimed, leases, returned, work, expiry, parked }
  for _, key in ipairs(used) do
    keep_with_feed(feed, key, now_ms)
  end
end
if must_move(feed, now_ms) then
  local keys =
    { meta, log, claimed, leases, returned, work, expiry, delayed, parked, once, subscribers, guards }
  move_keys(feed, keys, now_ms)
end
save_feed(meta, feed)
if #found.free > 0 then
  return { 'claimed', feed.epoch, feed.token, expires_at_ms, now_ms, #found.dead, tell_messages(found.free) }
end
if #found.dead + #found.expired > 0 then
  return { 'empty', #found.dead, 1 }
end
return { 'empty', 0, recheck_after(feed, leases, now_ms) }

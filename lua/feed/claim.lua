--[[
Claims free messages for a while, oldest first. No other caller gets them until the lease ends. A message lives at least
as long as its claim and the grace period after it. A message that was claimed `max_claims` times already becomes a dead
letter instead, in the feed's own dead-letter feed. A claim ends once its messages reach 4 MiB. Repeating the call
returns the same claim while it is live.

@returns claimed  epoch:integer token:integer expires_at_ms:integer now_ms:integer dead:integer messages:[position:integer id:integer expires_at_ms:integer claims:integer body:bytes]
@returns empty    dead:integer recheck_ms:integer
@cost    O(limit x log n) and 4 MiB of bodies; at most 200 + 2 x limit expired or dead messages, 100 + limit delayed ones, 1000
         of lapsed claims
]]
local codec = ARGV[1] -- text: name of the codec that made the bodies
local partitions = tonumber(ARGV[2]) -- integer: number of partitions of the feed; 0: not partitioned
local call_id = ARGV[3] -- CALL_ID: of this call; see shared/calls
local limit = tonumber(ARGV[5]) -- integer: messages to claim at most
local lease_ms = tonumber(ARGV[6]) -- integer: how long the claim lasts
local grace_ms = tonumber(ARGV[7]) -- integer: how long messages live at least after it
local max_claims = tonumber(ARGV[8]) -- integer: claims after which a message is dead; 0: never
local dead_ms = tonumber(ARGV[9]) -- integer: how long a dead letter lives; 0: as long as the message would have
local dead_channel = ARGV[10] -- text: channel of the waiting readers of dead letters
local sharded = ARGV[11] == '1' -- flag: whether that is a sharded channel

local feed = try(open_feed(keys.meta, call_id.caller, codec, partitions))
local dead = max_claims > 0 and read_feed(keys.dead_meta, codec) or { layout = FEED_LAYOUT }
try(refusal_of_feed(dead))
feed.now_us = clock_us()
feed.now_ms = math.floor(feed.now_us / 1000)
local known_token = try(recall(feed.record, call_id))
if known_token and is_live(keys, feed, known_token) then
  local ends_at_ms = tonumber(redis.call('ZSCORE', keys.leases, known_token))
  local messages = report_messages(claimed_entries(keys, feed, known_token), keys.bodies)
  return { 'claimed', feed.epoch, tonumber(known_token), ends_at_ms, feed.now_ms, 0, messages }
end
if feed.epoch == 0 then
  return { 'empty', 0, 0 }
end

local freed = lapse_claims(keys, feed, 1000)
local shown = 0
if has_come(feed.visible_at_us, feed.now_us) then
  shown = show_due(keys, feed, 100 + limit)
  keep_with_feed(feed, keys.bodies)
end
local found = new_findings(limit, max_claims)
find_returned(keys, feed, found)
find_fresh(keys, feed, found)

-- Removals come before the claim: if a right to them is missing, no messages are held without a holder.
if #found.dead > 0 or #found.free > 0 and #found.expired > 0 then
  refuse_when_full(keys.meta, feed)
  redis.call('ZADD', keys.claimed, 'XX', '0', '')
end
if #found.dead > 0 then
  local dead_keys = {
    meta = keys.dead_meta,
    log = keys.dead_log,
    early = keys.dead_early,
    bodies = keys.dead_bodies,
    claimed = keys.dead_claimed,
    leases = keys.dead_leases,
    returned = keys.dead_returned,
    work = keys.dead_work,
    expiry = keys.dead_expiry,
    parked = keys.dead_parked,
  }
  -- The dead-letter feed is used as soon as this partition is.
  dead.partitions, dead.now_us, dead.now_ms = feed.partitions, feed.now_us, feed.now_ms
  try_whole_removal(keys)
  add_dead_letters(dead_keys, dead, keys.bodies, found.dead, dead_ms)
  wake(dead_channel, sharded, 'appended')
end
if #found.dead + #found.expired > 0 then
  remove_entries(keys, feed, found.dead)
  remove_entries(keys, feed, found.expired)
  if feed.look or feed.moved ~= 0 then
    compact(keys, feed, #found.dead + #found.expired)
  end
  if may_rest(feed) then
    rest_when_empty(keys, feed)
  end
end

local expires_at_ms = feed.now_ms + lease_ms
if #found.free > 0 then
  feed.token = math.max(feed.token + 1, feed.now_us)
  prolong_entries(keys, feed, found.free, expires_at_ms + grace_ms)
  open_claim(keys, feed, lease_ms, found.free)
  remember_answer(keys.meta, call_id, feed.now_ms, exact(feed.token))
end
if #found.free + freed + shown > 0 then
  local used = { keys.log, keys.claimed, keys.leases, keys.returned, keys.work, keys.expiry, keys.parked }
  for _, key in ipairs(used) do
    keep_with_feed(feed, key)
  end
end
if must_move(feed) then
  move_all(keys, feed)
end
save_feed(keys.meta, feed)
if #found.free > 0 then
  local messages = report_messages(found.free, keys.bodies)
  return { 'claimed', feed.epoch, feed.token, expires_at_ms, feed.now_ms, #found.dead, messages }
end
if #found.dead + #found.expired > 0 then
  return { 'empty', #found.dead, 1 }
end
return { 'empty', 0, recheck_after(keys.leases, feed) }

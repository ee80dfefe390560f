--[[
Makes dead letters of messages of a live claim, in the feed's own dead-letter feed: nobody can work on them. They keep their ids.
Ids that the claim does not hold are passed over.

@returns buried  count:integer
@returns lost
@cost    O(messages x log n) and their bodies, which one claim holds; as much for twice as many that are written anew, here and
         there, and for 50 dead letters that have expired
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
local parked = KEYS[10] -- hash: id -> delayed message, later its position
local subscribers = KEYS[11] -- sorted set: subscriber -> position
local dead_meta = KEYS[12] -- hash: state of the dead-letter feed
local dead_log = KEYS[13] -- stream: the dead letters
local dead_early = KEYS[14] -- stream: the same of the dead letters
local dead_bodies = KEYS[15] -- hash: the same of the dead letters
local dead_claimed = KEYS[16] -- sorted set: the same of the dead letters
local dead_leases = KEYS[17] -- sorted set: the same of the dead letters
local dead_returned = KEYS[18] -- sorted set: the same of the dead letters
local dead_work = KEYS[19] -- hash: the same of the dead letters
local dead_expiry = KEYS[20] -- sorted set: position -> expires_at_ms of dead letters
local dead_parked = KEYS[21] -- hash: id -> position of dead letters
local codec = ARGV[1] -- text: name of the codec that was to read the bodies
local caller = ARGV[2] -- text: process and slot; empty: the call is not remembered
local call = ARGV[3] -- text: number of the call in that slot
local token = ARGV[4] -- text: token of the claim
local dead_ms = tonumber(ARGV[5]) -- integer: how long a dead letter lives; 0: as long as it would have
local dead_channel = ARGV[6] -- text: where those wait who read dead letters
local sharded = ARGV[7] == '1' -- flag: whether that is a sharded channel
local ids, ids_at = ARGV, 8 -- repeated (id:integer): messages of the claim

local keys = {
  meta = meta,
  log = log,
  early = early,
  bodies = bodies,
  claimed = claimed,
  leases = leases,
  returned = returned,
  work = work,
  expiry = expiry,
  parked = parked,
  subscribers = subscribers,
}
local dead_keys = {
  meta = dead_meta,
  log = dead_log,
  early = dead_early,
  bodies = dead_bodies,
  claimed = dead_claimed,
  leases = dead_leases,
  returned = dead_returned,
  work = dead_work,
  expiry = dead_expiry,
  parked = dead_parked,
}

local feed = open_feed(meta, codec, caller)
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
if feed.codec ~= codec then
  return redis.error_reply('CODEC ' .. feed.codec)
end
local dead = open_feed(dead_meta, codec)
if dead.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. dead.layout)
end
local remembered, superseded = recall(feed.record, call)
if superseded then
  return redis.error_reply('INVALID call: a later one has taken its slot')
end
if remembered then
  return { 'buried', tonumber(remembered) }
end
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
if not is_live(leases, token, now_ms) then
  return { 'lost' }
end

local entries = {}
for _, found in ipairs(look_up(parked, ids, ids_at)) do
  local entry = found.place
    and redis.call('ZSCORE', claimed, found.place) == token
    and entry_at(feed, keys, found.place)
  entries[#entries + 1] = entry or nil
end
complete_entries(work, entries)
if #entries > 0 then
  local is_over = redis.call('ZCOUNT', claimed, token, token) == #entries
  -- It is used as soon as this partition is.
  dead.partitions = feed.partitions
  refuse_when_full(meta, feed)
  try_whole_removal(keys)
  bury_entries(dead, dead_keys, bodies, entries, dead_ms, now_us)
  wake(dead_channel, sharded, 'appended')
  remove_entries(feed, keys, entries)
  if is_over then
    redis.call('HDEL', work, lease_field(token))
    redis.call('ZREM', leases, token)
  end
  if feed.look or feed.moved ~= 0 then
    compact(feed, keys, now_ms, #entries)
  end
  if may_rest(feed) then
    rest_when_empty(feed, keys, now_ms)
  end
  remember_answer(meta, caller, call, now_ms, exact(#entries))
  save_feed(meta, feed)
end
return { 'buried', #entries }

--[[
Moves messages of a live claim, which its caller cannot process, into the feed's own dead-letter feed. They keep their
ids. Ids that the claim does not hold are skipped.

@returns moved  count:integer
@returns lost
@cost    O(messages x log n) and their bodies, which one claim holds; as much for twice as many that are rewritten, here and
         there, and for 50 dead letters that have expired
]]
local codec = ARGV[1] -- text: name of the codec of the bodies
local call_id = ARGV[2] -- CALL_ID: of this call; see shared/calls
local token = ARGV[4] -- text: token of the claim
local dead_ms = tonumber(ARGV[5]) -- integer: how long a dead letter lives; 0: as long as the message would have
local dead_channel = ARGV[6] -- text: channel of the waiting readers of dead letters
local sharded = ARGV[7] == '1' -- flag: whether that is a sharded channel
local ids, ids_at = ARGV, 8 -- repeated (id:integer): messages of the claim

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

local feed = try(open_feed(keys.meta, call_id.caller, codec))
local dead = read_feed(keys.dead_meta, codec)
try(refusal_of_feed(dead))
local remembered = try(recall(feed.record, call_id))
if remembered then
  return { 'moved', tonumber(remembered) }
end
feed.now_us = clock_us()
feed.now_ms = math.floor(feed.now_us / 1000)
if not is_live(keys, feed, token) then
  return { 'lost' }
end

local entries = {}
for _, found in ipairs(look_up(keys.parked, ids, ids_at)) do
  local entry = found.place
    and redis.call('ZSCORE', keys.claimed, found.place) == token
    and entry_at(keys, feed, found.place)
  entries[#entries + 1] = entry or nil
end
complete_entries(keys.work, entries)
if #entries > 0 then
  local is_over = redis.call('ZCOUNT', keys.claimed, token, token) == #entries
  -- The dead-letter feed is used as soon as this partition is.
  dead.partitions, dead.now_us, dead.now_ms = feed.partitions, feed.now_us, feed.now_ms
  refuse_when_full(keys.meta, feed)
  try_whole_removal(keys)
  add_dead_letters(dead_keys, dead, keys.bodies, entries, dead_ms)
  wake(dead_channel, sharded, 'appended')
  remove_entries(keys, feed, entries)
  if is_over then
    forget_lease(keys, token)
  end
  if feed.look or feed.moved ~= 0 then
    compact(keys, feed, #entries)
  end
  if may_rest(feed) then
    rest_when_empty(keys, feed)
  end
  remember_answer(keys.meta, call_id, feed.now_ms, exact(#entries))
  save_feed(keys.meta, feed)
end
return { 'moved', #entries }

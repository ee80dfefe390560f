--[[
Gives messages of a claim back before it ends: they are free again, in their old places.
Without ids the whole claim. Ids that the claim does not hold are passed over. What nobody got is as if it had not been claimed.

@returns released  count:integer
@returns lost
@cost    O(messages x log n)
]]
local meta = KEYS[1] -- hash: the feed's state
local claimed = KEYS[2] -- sorted set: position -> token of its claim
local leases = KEYS[3] -- sorted set: token -> when the claim ends, in ms
local returned = KEYS[4] -- sorted set: places that are free again
local work = KEYS[5] -- hash: position -> claims so far, bytes, expiry, id
local parked = KEYS[6] -- hash: id -> delayed message, later its position
local caller = ARGV[1] -- text: process and slot; empty: the call is not remembered
local call = ARGV[2] -- text: number of the call in that slot
local channel = ARGV[3] -- text: where those who wait listen; empty: nobody waits
local sharded = ARGV[4] == '1' -- flag: whether that is a sharded channel
local token = ARGV[5] -- text: token of the claim
local unseen = ARGV[6] == '1' -- flag: whether nobody got them: the claim does not count
local ids, ids_at = ARGV, 7 -- repeated (id:integer): messages to give back; none: all of the claim

local feed = open_feed(meta, '', caller)
if feed.layout ~= FEED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. feed.layout)
end
local remembered, superseded = recall(feed.record, call)
if superseded then
  return redis.error_reply('INVALID call: a later one has taken its slot')
end
if remembered then
  return { 'released', tonumber(remembered) }
end
local now_ms = math.floor(clock_us() / 1000)
if not is_live(leases, token, now_ms) then
  return { 'lost' }
end
local places = places_held(claimed, token)
if #ids >= ids_at then
  places = {}
  for _, found in ipairs(look_up(parked, ids, ids_at)) do
    if found.place and redis.call('ZSCORE', claimed, found.place) == token then
      places[#places + 1] = found.place
    end
  end
end
local is_over = redis.call('ZCOUNT', claimed, token, token) == #places
if #places > 0 then
  give_back(claimed, returned, work, places)
  if unseen then
    uncount(work, places)
  end
end
if is_over then
  forget_lease(leases, work, token)
end
-- What has changed nothing needs no memory, which a full server would refuse.
if is_over or #places > 0 then
  remember_answer(meta, caller, call, now_ms, #places)
end
keep_with_feed(feed, returned, now_ms)
wake(channel, sharded, 'released')
return { 'released', #places }

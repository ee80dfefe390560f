--[[
Releases messages of a claim before it ends: they are free again, in their old places. Without ids, it releases the
whole claim. Ids that the claim does not hold are skipped. With `unseen`, the messages count as never claimed.

@returns released  count:integer
@returns lost
@cost    O(messages x log n)
]]
local call_id = ARGV[1] -- CALL_ID: of this call; see shared/calls
local channel = ARGV[3] -- text: channel of the waiters; empty: there are none
local sharded = ARGV[4] == '1' -- flag: whether that is a sharded channel
local token = ARGV[5] -- text: token of the claim
local unseen = ARGV[6] == '1' -- flag: whether no consumer got them: the claim does not count
local ids, ids_at = ARGV, 7 -- repeated (id:integer): messages to give back; none: all of the claim

local feed = try(open_feed(keys.meta, call_id.caller))
local remembered = try(recall(feed.record, call_id))
if remembered then
  return { 'released', tonumber(remembered) }
end
feed.now_ms = math.floor(clock_us() / 1000)
if not is_live(keys, feed, token) then
  return { 'lost' }
end
local places = places_held(keys.claimed, token)
if #ids >= ids_at then
  places = {}
  for _, found in ipairs(look_up(keys.parked, ids, ids_at)) do
    if found.place and redis.call('ZSCORE', keys.claimed, found.place) == token then
      places[#places + 1] = found.place
    end
  end
end
local is_over = redis.call('ZCOUNT', keys.claimed, token, token) == #places
if #places > 0 then
  give_back(keys, places)
  if unseen then
    uncount(keys.work, places)
  end
end
if is_over then
  forget_lease(keys, token)
end
-- A call that changes nothing needs no memory, which a full server would refuse.
if is_over or #places > 0 then
  remember_answer(keys.meta, call_id, feed.now_ms, #places)
end
keep_with_feed(feed, keys.returned)
wake(channel, sharded, 'released')
return { 'released', #places }

--[[
Removes at most 1,000 items: of a set or a sorted set by their values, of a hash by their fields. An absent item is no
error. Repeating the call changes nothing.

@returns removed  size:integer removed:integer
@returns absent
@cost    O(log items) for each item given
]]
local call_id = ARGV[1] -- CALL_ID: of this call; see shared/calls
local kind = ARGV[3] -- text: set, hash or sortedSet
local codec = ARGV[4] -- text: name of the codec that made the values
local parts, parts_at = ARGV, 5 -- repeated (part:bytes): value, or field of a hash

local known = try(open_collection(keys.meta, call_id.caller))
if #parts - parts_at >= MAX_REMOVED then
  return redis.error_reply('INVALID items: must be at most 1000 a call')
end
local remembered = try(recall(known.record, call_id))
if remembered then
  local size, removed = string.match(remembered, '^(%d+) (%d+)$')
  return { 'removed', tonumber(size), tonumber(removed) }
end
local now_ms = math.floor(clock_us() / 1000)
if not is_live(known, keys.items, now_ms) then
  return { 'absent' }
end
try(refusal_of_kind(known, kind, codec))
local removed = take_out(keys.items, kind, parts, parts_at)
local size = known.size - removed
-- It frees first, so that it also works when the server is out of memory.
keep_until(keys.meta, keys.items, known.expires_at_ms, now_ms)
redis.call('HSET', keys.meta, 'size', exact(size))
remember_answer(keys.meta, call_id, now_ms, string.format('%.0f %.0f', size, removed))
return { 'removed', size, removed }

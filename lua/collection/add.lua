--[[
Adds at most 1,000 items. A list appends them at its end. In a set, an item that exists stays; a hash and a sorted set
take its new value or score. With a limit, a list keeps the newest items and a sorted set those with the greatest
scores; one call removes at most 2,000 surplus items. An absent collection stays absent: otherwise it would seem
complete. Repeating the call changes nothing.

@returns added   size:integer added:integer removed:integer
@returns absent
@cost    O(log items) for each item given, and at most 2,000 removed ones
]]
local call_id = ARGV[1] -- CALL_ID: of this call; see shared/calls
local kind = ARGV[3] -- text: list, set, hash or sortedSet
local codec = ARGV[4] -- text: name of the codec that made the values
local limit = tonumber(ARGV[5]) -- integer: how many items there may be, of a list or a sorted set; 0: any number
local largest = tonumber(ARGV[6]) -- integer: bytes of the largest of these items
local parts, parts_at = ARGV, 7 -- repeated (part:bytes): as those of `replace`

local known = try(open_collection(keys.meta, call_id.caller))
if #parts - parts_at >= MAX_PARTS then
  return redis.error_reply('INVALID items: must be at most 1000 a call')
end
local remembered = try(recall(known.record, call_id))
if remembered then
  local size, added, removed = string.match(remembered, '^(%d+) (%d+) (%d+)$')
  return { 'added', tonumber(size), tonumber(added), tonumber(removed) }
end
local now_ms = math.floor(clock_us() / 1000)
if not is_live(known, keys.items, now_ms) then
  return { 'absent' }
end
try(refusal_of_kind(known, kind, codec))
local added = fill(keys.items, kind, parts, parts_at)
if kind == 'list' then
  added = #parts - parts_at + 1
end
local removed = limit_items(keys.items, kind, known.size + added - limit, limit)
local size = known.size + added - removed
if kind == 'list' then
  known.first = known.first + removed
end
redis.call(
  'HSET',
  keys.meta,
  'size',
  exact(size),
  'first',
  exact(known.first),
  'largest',
  exact(math.max(known.largest, largest))
)
-- The first item of an empty collection creates its key again, without an expiry.
keep_until(keys.meta, keys.items, known.expires_at_ms, now_ms)
remember_answer(keys.meta, call_id, now_ms, string.format('%.0f %.0f %.0f', size, added, removed))
return { 'added', size, added, removed }

--[[
Reads a page of items. `place` and `copy` come from the previous page. `replaced`: the collection has been replaced
since, so that another page would mix two; or a set or a hash is on another Redis process, which scans it in another
order. `gap`: items at the head of a list were removed before they were read. A set and a hash may return a few items
more than the limit, and an item twice when they change meanwhile. A sorted set is read by rank. Servers write the same score
in different ways: 0.1, or 0.10000000000000001.

@returns page      copy:integer version:integer expires_at_ms:integer size:integer place:text more:flag gap:flag parts:[part:bytes]
@returns replaced  copy:integer version:integer
@returns absent
@cost    O(log items + limit), at most 4 MiB
@reads
]]
local kind = ARGV[1] -- text: list, set, hash or sortedSet
local codec = ARGV[2] -- text: name of the codec that made the values
local copy = tonumber(ARGV[3]) -- integer: from the previous page; 0: from the beginning
local place = ARGV[4] -- text: from the previous page; 0: from the beginning
local limit = tonumber(ARGV[5]) -- integer: how many items at most, up to 1,000

local known = try(open_collection(keys.meta, ''))
local is_scanned = kind == 'set' or kind == 'hash'
local cursor = cursor_of(place)
if cursor == nil or (not is_scanned and cursor ~= place) then
  return redis.error_reply('INVALID after: must be a cursor of this collection')
end
local now_ms = math.floor(clock_us() / 1000)
if not is_live(known, keys.items, now_ms) then
  return { 'absent' }
end
try(refusal_of_kind(known, kind, codec))
if cursor == false or (copy ~= 0 and copy ~= known.copy) then
  return { 'replaced', known.copy, known.version }
end
local gap = copy ~= 0 and kind == 'list' and tonumber(cursor) < known.first
local parts, next_place, more = read_items(keys.items, known, cursor, page_size(known, limit))
return {
  'page',
  known.copy,
  known.version,
  known.expires_at_ms,
  known.size,
  next_place,
  more and 1 or 0,
  gap and 1 or 0,
  parts,
}

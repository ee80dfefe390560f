--[[
Replaces all items of a collection by at most 1,000 others, in one step. A version older than the stored one is refused;
the same version again changes nothing, and neither does a repeated call. Without versions the last call wins. An empty
list of items makes the collection empty, not absent.

@returns replaced   copy:integer expires_at_ms:integer
@returns unchanged  copy:integer expires_at_ms:integer
@returns refused    version:integer
@cost    O(items given); Redis frees the replaced items in the background
]]
local call_id = ARGV[1] -- CALL_ID: of this call; see shared/calls
local kind = ARGV[3] -- text: list, set, hash or sortedSet
local codec = ARGV[4] -- text: name of the codec that made the values
local version = tonumber(ARGV[5]) -- integer: version of the items; -1: none
local ttl_ms = tonumber(ARGV[6]) -- integer: how long the collection is valid
local largest = tonumber(ARGV[7]) -- integer: bytes of the largest item
local parts, parts_at = ARGV, 8 -- repeated (part:bytes): value; field and value of a hash; score and value of a sorted set

local known = try(open_collection(keys.meta, call_id.caller))
if #parts - parts_at >= MAX_PARTS then
  return redis.error_reply('INVALID items: must be at most 1000 a call')
end
local remembered = try(recall(known.record, call_id))
if remembered then
  local copy, expires_at_ms = parse_replaced(remembered)
  return { 'replaced', copy, expires_at_ms }
end
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
if is_live(known, keys.items, now_ms) then
  try(refusal_of_kind(known, kind, codec))
  if is_outdated(known, version) then
    if known.version > version then
      return { 'refused', known.version }
    end
    return { 'unchanged', known.copy, known.expires_at_ms }
  end
end
begin_copy(keys.meta)
redis.call('UNLINK', keys.items)
fill(keys.items, kind, parts, parts_at)
known.kind = kind
known.codec = codec
known.version = version
known.largest = largest
known.copy = next_token(known.copy, now_us)
known.expires_at_ms = now_ms + ttl_ms
save_copy(keys.meta, known, count_items(keys.items, kind))
keep_until(keys.meta, keys.items, known.expires_at_ms, now_ms)
remember_answer(keys.meta, call_id, now_ms, replaced_answer(known.copy, known.expires_at_ms))
return { 'replaced', known.copy, known.expires_at_ms }

--[[
Makes a build the items of the collection, in one step, whatever its size. Versions are handled as by `replace`; an
unwanted build is dropped. Repeating the call changes nothing. `lost`: the build is incomplete, because it took too long
or the server has lost it.

@returns replaced   copy:integer expires_at_ms:integer
@returns unchanged  copy:integer expires_at_ms:integer
@returns refused    version:integer
@returns lost
@cost    O(1); Redis frees the replaced items in the background
]]
local call_id = ARGV[1] -- CALL_ID: of this call; see shared/calls
local kind = ARGV[3] -- text: list, set, hash or sortedSet
local codec = ARGV[4] -- text: name of the codec that made the values
local version = tonumber(ARGV[5]) -- integer: version of the items; -1: none
local ttl_ms = tonumber(ARGV[6]) -- integer: how long the collection is valid
local largest = tonumber(ARGV[7]) -- integer: bytes of the largest item
local size = tonumber(ARGV[8]) -- integer: number of items built so far

local known = try(open_collection(keys.meta, call_id.caller))
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
    redis.call('UNLINK', keys.build)
    if known.version > version then
      return { 'refused', known.version }
    end
    return { 'unchanged', known.copy, known.expires_at_ms }
  end
end
if size == 0 or count_items(keys.build, kind) ~= size then
  return { 'lost' }
end
begin_copy(keys.meta)
-- Renaming over a large key would free it in the foreground.
redis.call('UNLINK', keys.items)
redis.call('RENAME', keys.build, keys.items)
known.kind = kind
known.codec = codec
known.version = version
known.largest = largest
known.copy = next_token(known.copy, now_us)
known.expires_at_ms = now_ms + ttl_ms
save_copy(keys.meta, known, size)
keep_until(keys.meta, keys.items, known.expires_at_ms, now_ms)
remember_answer(keys.meta, call_id, now_ms, replaced_answer(known.copy, known.expires_at_ms))
return { 'replaced', known.copy, known.expires_at_ms }

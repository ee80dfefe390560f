--[[
Returns an overview of a collection.

@returns inspection  kind:text codec:text copy:integer version:integer size:integer largest:integer expires_at_ms:integer now_ms:integer
@returns absent
@cost    O(1)
@reads
]]

local known = try(open_collection(keys.meta, ''))
local now_ms = math.floor(clock_us() / 1000)
if not is_live(known, keys.items, now_ms) then
  return { 'absent' }
end
return {
  'inspection',
  known.kind,
  known.codec,
  known.copy,
  known.version,
  known.size,
  known.largest,
  known.expires_at_ms,
  now_ms,
}

--[[
Replaces a document, if it is still the version that the caller saw. A call that is repeated after a lost answer finds
its own document stored and returns the first answer. A server out of memory accepts a document that is small, or no
larger than the previous one.

@returns replaced  version:integer
@returns conflict  version:integer document:bytes
@returns absent
@cost    O(log names)
]]
local name = ARGV[1] -- text: the name
local seen = tonumber(ARGV[2]) -- integer: version that the caller saw
local document = ARGV[3] -- bytes: the new document

local SMALL_BYTES = 8192

try(refusal_of_catalog(keys.meta))
local stored = redis.call('HGET', keys.documents, name)
if not stored then
  return { 'absent' }
end
local version, known = parse_document(stored)
if known == document then
  return { 'replaced', version }
end
if version ~= seen then
  return { 'conflict', version, known }
end
local next_version, written = stored_document(version, document, clock_us())
if #document <= math.max(#known, SMALL_BYTES) then
  -- Removes nothing. After a removal the script may write although memory is exhausted. The old document stays until
  -- the new one is stored.
  redis.call('HDEL', keys.documents, '')
end
redis.call('HSET', keys.documents, name, written)
return { 'replaced', next_version }

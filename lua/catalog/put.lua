--[[
Adds a name with a document. If the name exists already, nothing changes.

@returns created  version:integer
@returns existed  version:integer document:bytes
@cost    O(log names)
]]
local name = ARGV[1] -- text: the name
local document = ARGV[2] -- bytes: its document

try(refusal_of_catalog(keys.meta))
local stored = redis.call('HGET', keys.documents, name)
if stored then
  local version, known = parse_document(stored)
  return { 'existed', version, known }
end
local version, written = stored_document(0, document, clock_us())
-- The document is written last: a name never exists without one, whichever right is missing.
redis.call('HSET', keys.meta, 'layout', CATALOG_LAYOUT)
redis.call('ZADD', keys.names, '0', name)
redis.call('HSET', keys.documents, name, written)
return { 'created', version }

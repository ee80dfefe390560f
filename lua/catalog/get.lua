--[[
Returns the document of a name.

@returns found   version:integer document:bytes
@returns absent
@cost    O(1)
@reads
]]
local name = ARGV[1] -- text: the name

try(refusal_of_catalog(keys.meta))
local stored = redis.call('HGET', keys.documents, name)
if not stored then
  return { 'absent' }
end
local version, document = parse_document(stored)
return { 'found', version, document }

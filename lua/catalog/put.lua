--[[
Adds a name with a document, unless the name is there already: then nothing changes.

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
return { 'created', store_document(keys, name, 0, document, clock_us()) }

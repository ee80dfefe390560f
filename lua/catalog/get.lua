--[[
Finds the document of a name.

@returns found   version:integer document:bytes
@returns absent
@cost    O(1)
@reads
]]
local meta = KEYS[1] -- hash: layout of the catalog
local documents = KEYS[2] -- hash: name -> '<version> <document>'
local name = ARGV[1] -- text: the name

if not knows_layout(meta) then
  return redis.error_reply('LAYOUT ' .. redis.call('HGET', meta, 'layout'))
end
local stored = redis.call('HGET', documents, name)
if not stored then
  return { 'absent' }
end
local version, document = parse_document(stored)
return { 'found', version, document }

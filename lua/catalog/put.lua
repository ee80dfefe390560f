--[[
Adds a name with a document, unless the name is there already: then nothing changes.

@returns created  version:integer
@returns existed  version:integer document:bytes
@cost    O(log names)
]]
local meta = KEYS[1] -- hash: layout of the catalog
local names = KEYS[2] -- sorted set: the names, in the order of their bytes
local documents = KEYS[3] -- hash: name -> '<version> <document>'
local name = ARGV[1] -- text: the name
local document = ARGV[2] -- bytes: its document

if not knows_layout(meta) then
  return redis.error_reply('LAYOUT ' .. redis.call('HGET', meta, 'layout'))
end
local stored = redis.call('HGET', documents, name)
if stored then
  local version, known = parse_document(stored)
  return { 'existed', version, known }
end
return { 'created', store_document(meta, names, documents, name, 0, document, clock_us()) }

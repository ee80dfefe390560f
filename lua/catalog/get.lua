--[[
Finds the document of a name.

@returns found   version:integer document:bytes
@returns absent
@cost    O(1)
@reads
]]
local name = ARGV[1] -- text: the name

if not knows_layout(keys.meta) then
  return redis.error_reply('LAYOUT ' .. redis.call('HGET', keys.meta, 'layout'))
end
local stored = redis.call('HGET', keys.documents, name)
if not stored then
  return { 'absent' }
end
local version, document = parse_document(stored)
return { 'found', version, document }

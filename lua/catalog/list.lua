--[[
Lists names in the order of their bytes, with their documents.

@returns listed  total:integer more:flag entries:[name:text version:integer document:bytes]
@cost    O(log names + limit)
@reads
]]
local meta = KEYS[1] -- hash: layout of the catalog
local names = KEYS[2] -- sorted set: the names, in the order of their bytes
local documents = KEYS[3] -- hash: name -> '<version> <document>'
local after = ARGV[1] -- text: names behind this one; empty: from the first
local limit = tonumber(ARGV[2]) -- integer: names to list at most

-- @include shared/catalog

if not knows_layout(meta) then
  return redis.error_reply('LAYOUT ' .. redis.call('HGET', meta, 'layout'))
end
local from = after == '' and '-' or '(' .. after
local found = redis.call('ZRANGEBYLEX', names, from, '+', 'LIMIT', '0', limit + 1)
local more = #found > limit and 1 or 0
found[limit + 1] = nil
local entries = {}
if #found > 0 then
  for at, stored in ipairs(redis.call('HMGET', documents, unpack(found))) do
    local version, document = parse_document(stored)
    entries[#entries + 1] = found[at]
    entries[#entries + 1] = version
    entries[#entries + 1] = document
  end
end
return { 'listed', redis.call('ZCARD', names), more, entries }

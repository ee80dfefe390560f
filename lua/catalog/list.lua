--[[
Lists names in the order of their bytes, with their documents. A page ends before `limit` when its documents reach a
megabyte; `more` reports this.

@returns listed  total:integer more:flag entries:[name:text version:integer document:bytes]
@cost    O(log names + limit), and twenty documents beyond a megabyte of them
@reads
]]
local after = ARGV[1] -- text: names after this one; empty: from the first
local limit = tonumber(ARGV[2]) -- integer: names to list at most

-- Documents may be large, so no call reads many more bytes than this.
local ENOUGH_BYTES = 1048576
local CHUNK = 20

try(refusal_of_catalog(keys.meta))
local from = after == '' and '-' or '(' .. after
local found = redis.call('ZRANGEBYLEX', keys.names, from, '+', 'LIMIT', '0', limit + 1)
local entries, read, bytes = {}, 0, 0
local wanted = math.min(limit, #found)
while read < wanted and bytes < ENOUGH_BYTES do
  local upto = math.min(wanted, read + CHUNK)
  for at, stored in ipairs(redis.call('HMGET', keys.documents, unpack(found, read + 1, upto))) do
    local version, document = parse_document(stored)
    entries[#entries + 1] = found[read + at]
    entries[#entries + 1] = version
    entries[#entries + 1] = document
    bytes = bytes + #document
  end
  read = upto
end
return { 'listed', redis.call('ZCARD', keys.names), #found > read and 1 or 0, entries }

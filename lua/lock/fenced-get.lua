--[[
Reads a value stored under a token.

@returns found   token:integer value:bytes
@returns absent
@cost    O(1)
@reads
]]
local codec = ARGV[1] -- text: name of the codec that reads the value

local stored = try(open_fenced(keys.fenced))
if not stored.value then
  return { 'absent' }
end
if stored.codec ~= codec then
  return redis.error_reply('CODEC ' .. stored.codec)
end
return { 'found', stored.token, stored.value }

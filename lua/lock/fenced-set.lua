--[[
Stores a value, unless a greater token has written it before: whoever was overtaken in its sleep is refused.
The same token may write again.

@returns stored
@returns refused  token:integer
@cost    O(1)
]]
local fenced = KEYS[1] -- hash: layout, codec, token and value
local codec = ARGV[1] -- text: name of the codec that made the value
local token = tonumber(ARGV[2]) -- integer: of the lease under which it is written
local value = ARGV[3] -- bytes: the value

-- @include shared/exact
-- @include shared/lock/fenced

local stored = open_fenced(fenced)
if stored.layout ~= FENCED_LAYOUT then
  return redis.error_reply('LAYOUT ' .. stored.layout)
end
if stored.codec and stored.codec ~= codec then
  return redis.error_reply('CODEC ' .. stored.codec)
end
if stored.token > token then
  return { 'refused', stored.token }
end
redis.call('HSET', fenced, 'layout', FENCED_LAYOUT, 'codec', codec, 'token', exact(token), 'value', value)
return { 'stored' }

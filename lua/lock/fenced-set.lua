--[[
Stores a value, unless a greater token has written it before: it refuses a holder that lost its lease unnoticed. The
same token may write again. A call that arrives after a later one of its process under the same token is superseded: it
changes nothing.

@returns stored
@returns refused  token:integer
@cost    O(1)
]]
local codec = ARGV[1] -- text: name of the codec that made the value
local token = tonumber(ARGV[2]) -- integer: token of the lease for this write
local value = ARGV[3] -- bytes: the value
local caller = ARGV[4] -- text: process and slot; empty: the script does not recognize late copies
local call = tonumber(ARGV[5]) -- integer: number of the call, rising in that process

local stored = try(open_fenced(keys.fenced))
if stored.codec and stored.codec ~= codec then
  return redis.error_reply('CODEC ' .. stored.codec)
end
if stored.token > token then
  return { 'refused', stored.token }
end
local process = string.match(caller, '^[^.]*')
if stored.token == token and process ~= '' and process == stored.process and call <= stored.call then
  return { 'stored' }
end
redis.call(
  'HSET',
  keys.fenced,
  'layout',
  FENCED_LAYOUT,
  'codec',
  codec,
  'token',
  exact(token),
  'value',
  value,
  'by',
  process .. ' ' .. exact(call)
)
return { 'stored' }

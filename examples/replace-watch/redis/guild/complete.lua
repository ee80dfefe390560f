--[[
Finds the first ten members whose names begin with a prefix, in the steps of the origin: two sentinels are put
around them, looked up and taken away. No other client sees the sentinels, so that they need no names of their own and
nothing is ever tried again.

@returns found  names:[name:text]
@cost    O(log members)
]]
local prefix = ARGV[1] -- text: what they begin with

if not is_name(prefix) then
  return redis.error_reply('INVALID prefix: only small letters')
end
local before = string.sub(prefix, 1, -2) .. string.char(string.byte(prefix, -1) - 1) .. '{'
local behind = prefix .. '{'
redis.call('ZADD', keys.members, '0', before, '0', behind)
local first = redis.call('ZRANK', keys.members, before) + 1
local last = redis.call('ZRANK', keys.members, behind) - 1
local names = redis.call('ZRANGE', keys.members, first, math.min(first + 9, last))
redis.call('ZREM', keys.members, before, behind)
return { 'found', names }

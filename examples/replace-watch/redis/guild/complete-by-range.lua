--[[
Finds the first ten members whose names begin with a prefix, by one command that the origin's Redis did not have.

@returns found  names:[name:text]
@reads
@cost    O(log members)
]]
local prefix = ARGV[1] -- text: what they begin with

return {
  'found',
  redis.call('ZRANGEBYLEX', keys.members, '[' .. prefix, '(' .. prefix .. '{', 'LIMIT', '0', '10'),
}

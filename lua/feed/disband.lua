--[[
Forgets the number of partitions of a feed, once all of them are cleared. It is `kept` where it was agreed upon after it was
agreed upon so: then a partition is used anew. Safe to repeat.

@returns forgotten
@returns kept
@cost    O(1)
]]
local agreed_us = ARGV[1] -- text: what agree answered before the partitions were cleared

if redis.call('HGET', keys.meta, 'agreed_us') ~= agreed_us then
  return { 'kept' }
end
redis.call('UNLINK', keys.meta)
return { 'forgotten' }

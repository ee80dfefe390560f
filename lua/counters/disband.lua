--[[
Removes the fixed number of partitions of counters and their place, once a caller has cleared all of them. `kept`: the
number was agreed again since, so a partition is in use again. Safe to repeat.

@returns forgotten
@returns kept
@cost    O(1)
]]
local agreed_us = ARGV[1] -- text: what agree answered before the caller cleared the partitions; empty: no number

if (redis.call('HGET', keys.meta, 'agreed_us') or '') ~= agreed_us then
  return { 'kept' }
end
redis.call('UNLINK', keys.meta)
return { 'forgotten' }

--[[
Removes the fixed number of partitions of counters and their place, once a caller has cleared all of them. `kept`: the
number or the place was stored since, so the counters are in use again. Safe to repeat.

@returns forgotten
@returns kept
@cost    O(1)
]]
local agreed_us = ARGV[1] -- text: what agree or keep-place answered before the caller cleared the partitions

if (redis.call('HGET', keys.meta, 'agreed_us') or '') ~= agreed_us then
  return { 'kept' }
end
redis.call('UNLINK', keys.meta)
return { 'forgotten' }

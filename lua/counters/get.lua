--[[
Returns the loaded values, in the order of the ids; null for those to load.

@reads
@returns found  epoch:integer values:[value:text?]
@cost    O(counters)
]]
local ids, ids_at = ARGV, 1 -- repeated (id:text): at most 1,000

local partition = try(open_partition(keys.meta, ''))
if #ids - ids_at >= 1000 then
  return redis.error_reply('INVALID ids: must be at most 1000 a call')
end
return { 'found', partition.epoch, redis.call('HMGET', keys.values, unpack(ids)) }

--[[
Removes a partition with all its unflushed increments, and its epoch. Safe to repeat.

@returns cleared
@returns absent
@cost    O(1); Redis frees the memory in the background
]]

if
  redis.call('UNLINK', keys.meta, keys.values, keys.pending, keys.rest, keys.sealed, keys.clean, keys.once)
  == 0
then
  return { 'absent' }
end
return { 'cleared' }

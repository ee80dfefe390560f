--[[
Removes the shown values and the notes of a partition whose counts are in SQL. Safe to repeat.

@returns cleared
@returns absent
@cost    O(1); Redis frees the memory in the background
]]

if redis.call('UNLINK', keys.board, keys.shown, keys.noted, keys.idle, keys.ahead) == 0 then
  return { 'absent' }
end
return { 'cleared' }

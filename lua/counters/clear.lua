--[[
Removes a partition with all its unflushed increments, and its epoch; also what a caller whose counts are in SQL left
under its name. Safe to repeat.

@returns cleared
@returns absent
@cost    O(1); Redis frees the memory in the background
]]

if clear_all(keys) == 0 then
  return { 'absent' }
end
return { 'cleared' }

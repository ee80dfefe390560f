--[[
Forgets what is shown of a partition whose counts are in SQL, and what is noted. Safe to repeat.

@returns cleared
@returns absent
@cost    O(1), the memory is freed in the background
]]
local board = KEYS[1] -- hash: what is known of a partition whose counts are in SQL
local shown = KEYS[2] -- hash: id -> what is shown
local noted = KEYS[3] -- hash: id -> what was noted since SQL was read
local idle = KEYS[4] -- sorted set: id of a counter without notes -> until when it stays
local ahead = KEYS[5] -- hash: id -> version of SQL that its value is of, if that is later than the partition's

if redis.call('UNLINK', board, shown, noted, idle, ahead) == 0 then
  return { 'absent' }
end
return { 'cleared' }

--[[
Forgets a partition with all that has not been flushed, and its epoch. Safe to repeat.

@returns cleared
@returns absent
@cost    O(1), the memory is freed in the background
]]
local meta = KEYS[1] -- hash: what is known of the partition
local values = KEYS[2] -- hash: id -> value
local pending = KEYS[3] -- hash: id -> what is counted, and neither set aside nor sealed
local rest = KEYS[4] -- hash: id -> what was set aside when a seal began, and what has come to it since
local sealed = KEYS[5] -- hash: id -> what is sealed, and not known to be in SQL
local clean = KEYS[6] -- sorted set: id of a counter without pending or sealed increments -> until when it stays
local once = KEYS[7] -- hash: id and idempotency key -> until when it is remembered

if redis.call('UNLINK', meta, values, pending, rest, sealed, clean, once) == 0 then
  return { 'absent' }
end
return { 'cleared' }

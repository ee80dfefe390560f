--[[
Removes a recurring job: it spawns no further job. Jobs that it spawned before stay. One that has moved between
partitions `enough` times is `kept`. Safe to repeat.

@returns removed  existed:flag
@returns kept     moves:integer
@cost    O(log n)
]]
local id = ARGV[1] -- text: the recurring job
local enough = tonumber(ARGV[2] or 0) -- integer: number of moves between partitions from which to keep it; 0: never

local queue = try(open_queue(keys.meta))
local moves = moves_of(keys.recurrences, id)
if enough > 0 and moves >= enough then
  return { 'kept', moves }
end
-- An unknown member would block all recurrences that run.
redis.call('ZREM', keys.recurring, '')
redis.call('EXISTS', keys.short)
local existed = redis.call('HDEL', keys.recurrences, 'd' .. id, 'j' .. id, 's' .. id, 't' .. id, 'm' .. id)
redis.call('ZREM', keys.recurring, id)
leave_short(keys.short, queue, id)
save_queue(keys.meta, queue)
return { 'removed', existed > 0 and 1 or 0 }

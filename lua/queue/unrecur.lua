--[[
Removes a recurring job: no further job is spawned. Those that were stay. One that has moved between partitions often
`enough` is `kept`. Safe to repeat.

@returns removed  existed:flag
@returns kept     moves:integer
@cost    O(log n)
]]
local meta = KEYS[1] -- hash: the queue's state
local recurrences = KEYS[2] -- hash: recurring jobs
local recurring = KEYS[3] -- sorted set: recurring jobs -> when they run next, in ms
local short = KEYS[4] -- sorted set: recurring jobs that run out of known times -> the last of them, in ms
local id = ARGV[1] -- text: the recurring job
local enough = tonumber(ARGV[2] or 0) -- integer: moves between partitions with which it is kept; 0: it never is

local queue = open_queue(meta, '', '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end
local moves = moves_of(recurrences, id)
if enough > 0 and moves >= enough then
  return { 'kept', moves }
end
-- One that is not known would be in the way of all that run.
redis.call('ZREM', recurring, '')
redis.call('EXISTS', short)
local existed = redis.call('HDEL', recurrences, 'd' .. id, 'j' .. id, 's' .. id, 't' .. id, 'm' .. id)
redis.call('ZREM', recurring, id)
leave_short(short, queue, id)
save_queue(meta, queue)
return { 'removed', existed > 0 and 1 or 0 }

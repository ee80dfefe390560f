--[[
Removes a recurring job: no further job is spawned. Those that were stay. Safe to repeat.

@returns removed  existed:flag
@cost    O(log n)
]]
local meta = KEYS[1] -- hash: the queue's state
local recurrences = KEYS[2] -- hash: recurring jobs
local recurring = KEYS[3] -- sorted set: recurring jobs -> when they run next, in ms
local short = KEYS[4] -- sorted set: recurring jobs that run out of known times -> the last of them, in ms
local id = ARGV[1] -- text: the recurring job

-- @include shared/queue/state
-- @include shared/queue/save
-- @include shared/queue/leave-short

local queue = open_queue(meta, '', '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end
local existed = redis.call('HDEL', recurrences, 'd' .. id, 'j' .. id, 's' .. id, 't' .. id)
redis.call('ZREM', recurring, id)
leave_short(short, queue, id)
save_queue(meta, queue)
return { 'removed', existed > 0 and 1 or 0 }

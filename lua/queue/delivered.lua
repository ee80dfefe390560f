--[[
What was brought to other queues leaves the outbox. Safe to repeat.

@returns delivered
@cost    O(numbers x log n)
]]
local meta = KEYS[1] -- hash: the queue's state
local jobs = KEYS[2] -- hash: all that is stored of each job
local outbox = KEYS[3] -- sorted set: what goes to other queues -> its number
local numbers, numbers_at = ARGV, 1 -- repeated (number:text): of what was brought

-- @include shared/queue/state
-- @include shared/queue/save
-- @include shared/queue/flags

local queue = open_queue(meta, '', '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end

for at = numbers_at, #numbers, 1 do
  redis.call('HDEL', jobs, 'x' .. numbers[at])
  redis.call('ZREM', outbox, numbers[at])
end
if has_flag(queue.chores, DELIVER) and redis.call('EXISTS', outbox) == 0 then
  queue.chores = queue.chores - DELIVER
end
save_queue(meta, queue)
return { 'delivered' }

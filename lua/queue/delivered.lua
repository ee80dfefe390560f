--[[
What was brought to another queue leaves the outbox. Where the numbers of this queue have gone back (it forgot what it was told last, or
was cleared, and its clock is behind) that one has passed over what came under numbers that it had seen: then they get others, and
are to be brought again. Safe to repeat.

@returns delivered
@returns behind
@cost    O(numbers x log n), where the clock is behind also the bytes of what goes there
]]
local meta = KEYS[1] -- hash: the queue's state
local jobs = KEYS[2] -- hash: all that is stored of each job
local outbox = KEYS[3] -- sorted set: what goes to other queues -> its number
local newest = tonumber(ARGV[1]) -- integer: number of the newest that the other queue had before
local numbers, numbers_at = ARGV, 2 -- repeated (number:text): of what was brought

-- @include shared/exact
-- @include shared/clock
-- @include shared/queue/state
-- @include shared/queue/save
-- @include shared/queue/flags

local queue = open_queue(meta, '', '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end

-- What has another number is among what was not brought. Answers whether there was any.
local function number_again()
  local is_any = false
  for at = numbers_at, #numbers, 1 do
    local packed = redis.call('HGET', jobs, 'x' .. numbers[at])
    if packed then
      queue.sent = math.max(queue.sent, newest) + 1
      local number = exact(queue.sent)
      redis.call('HDEL', jobs, 'x' .. numbers[at])
      redis.call('ZREM', outbox, numbers[at])
      redis.call('HSET', jobs, 'x' .. number, packed)
      redis.call('ZADD', outbox, number, number)
      is_any = true
    end
  end
  return is_any
end

if queue.sent < newest and clock_us() < newest and number_again() then
  save_queue(meta, queue)
  return { 'behind' }
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

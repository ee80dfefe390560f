--[[
What was brought to another queue leaves the outbox. Where the numbers of this queue have gone back (it forgot what it was told last, or
was cleared, and its clock is behind) that one has passed over what came under numbers that it had seen: then all that goes there gets
greater ones, by `ahead`, and is to be brought again. Safe to repeat.

@returns delivered
@returns behind
@cost    O(numbers x log n)
]]
local target = ARGV[1] -- text: name of the other queue
local ahead = tonumber(ARGV[2]) -- integer: what it was brought under is greater by so much
local newest = tonumber(ARGV[3]) -- integer: number of the newest that the other queue had before
local numbers, numbers_at = ARGV, 4 -- repeated (number:text): of what was brought

local queue = try(open_queue(keys.meta))

local oldest = redis.call('ZRANGE', keys.outbox, '0', '0')[1]
-- Whoever has found it out before: what was passed over until then has not come under its number of now.
local is_known = ahead ~= ahead_of(keys.meta, target)
if oldest and not is_known and queue.sent + ahead < newest and clock_us() < newest then
  redis.call('HSET', keys.meta, AHEAD .. target, exact(newest + 1 - oldest))
  return { 'behind' }
end
local is_behind = false
redis.call('ZREM', keys.outbox, '')
for at = numbers_at, #numbers, 1 do
  if is_known and numbers[at] + ahead <= newest then
    is_behind = true
  else
    redis.call('HDEL', keys.jobs, 'x' .. numbers[at])
    redis.call('ZREM', keys.outbox, numbers[at])
  end
end
if has_flag(queue.chores, CHORES.deliver) and redis.pcall('EXISTS', keys.outbox) == 0 then
  queue.chores = queue.chores - CHORES.deliver
end
save_queue(keys.meta, queue)
if is_behind then
  return { 'behind' }
end
return { 'delivered' }

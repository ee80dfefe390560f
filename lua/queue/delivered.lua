--[[
Removes from the outbox what another queue has received. The numbers of this queue may have gone back: it forgot the
last number it was given, or was cleared and its clock is late. Then the other queue has skipped entries under numbers
that it had seen. In that case all entries for that queue get numbers greater by `ahead`, and must be delivered again.
Safe to repeat.

@returns delivered
@returns behind
@cost    O(numbers x log n)
]]
local target = ARGV[1] -- text: name of the other queue
local ahead = tonumber(ARGV[2]) -- integer: offset of the numbers under which that queue received it
local newest = tonumber(ARGV[3]) -- integer: number of the newest entry that the other queue had before
local numbers, numbers_at = ARGV, 4 -- repeated (number:text): numbers of the delivered entries

local queue = try(open_queue(keys.meta))

local oldest = redis.call('ZRANGE', keys.outbox, '0', '0')[1]
-- Another process may have detected it before: entries that were skipped until then have not arrived under their
-- current number.
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

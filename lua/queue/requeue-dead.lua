--[[
Makes dead jobs whose failure was of a kind ready again, with attempts counted from the start, or removes them: the
oldest first, up to `limit` a call. `next` is the cursor for the following call; -1 at the end. With it, no job is held
up by one that dies again meanwhile, or that stays dead because another job has its unique key. `left` is how many there
still are, `newest` the newest job of the queue: later jobs did not exist at this call. `chores` is work for some
process; 0: none. Safe to repeat.

@returns requeued  count:integer left:integer chores:integer next:integer newest:integer
@cost    O(limit x log n),
         and at times 16 kB of notes for the statistics
]]
local how = ARGV[1] -- HOW: how waiters are notified
local kind = ARGV[4] -- text: kind of their failure
local limit = tonumber(ARGV[5]) -- integer: how many at most
local drops = ARGV[6] == '1' -- flag: whether to remove them
local after = tonumber(ARGV[7] or 0) -- integer: the cursor; 0: from the start

local queue = try(open_to_change(keys.meta, how))
try_rights(keys, queue)
local numbers, is_end = page_of_kind(keys, kind, after, limit)
local count = 0
for _, seq in ipairs(numbers) do
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
  local job, run = read_job(stored[1], queue.usual), unpack_run(stored[2])
  if drops then
    leave_dead(keys, queue, seq, run)
    happened(queue, 'cancelled', seq, job, run, '')
    erase_job(keys, queue, seq, job, run)
    queue.cancelled = queue.cancelled + 1
    count_job(queue, 'c', run.name)
    count = count + 1
  elseif may_hold_again(keys.ids, job, seq, queue.now_ms) then
    leave_dead(keys, queue, seq, run)
    begin_again(keys, queue, seq, job, run)
    hold_again(keys.ids, job, seq)
    count = count + 1
  end
end
local standing = drops and 0 or count
if queue.settling then
  standing = standing + settle_dependents(keys, queue, 100)
  see_to_rest(keys.idle, queue)
end
if queue.idle > 0 then
  call_idle(keys.idle, queue, math.min(standing, 8))
end
if queue.counted then
  leave_notes(keys, queue, packed_notes(queue))
end
if queue.events then
  publish(keys.listeners, queue.events, queue.now_ms)
end
save_queue(keys.meta, queue)
local _, left = string.match(redis.call('HGET', keys.kinds, kind) or '', '^(%d+) (%d+) ')
local next_number = is_end and -1 or tonumber(numbers[#numbers])
return { 'requeued', count, tonumber(left or 0), queue.chores, next_number, queue.last }

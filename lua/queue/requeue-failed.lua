--[[
Makes dead jobs whose failure was of a kind ready again, their attempts counted from the start, or removes them; the oldest
first, so many a call. `next` is the marker for the call that goes on behind them; -1 at the end. So no other is held up by one
that dies again meanwhile, or stays dead, for another job has its unique key. `left` is how many there still are, `newest` the
newest job of the queue: none behind it was there when the call came. `chores` is what some process has to see to; 0: nothing.
Safe to repeat.

@returns requeued  count:integer left:integer chores:integer next:integer newest:integer
@cost    O(limit x log n),
         and at times 16 kB of notes for the statistics
]]
local meta = KEYS[1] -- hash: the queue's state
local jobs = KEYS[2] -- hash: all that is stored of each job
local ready = KEYS[3] -- list: ready jobs without group and priority
local prioritized = KEYS[4] -- sorted set: ready jobs with a priority -> the lower the sooner
local grouped = KEYS[5] -- sorted set: ready jobs of groups -> number of the group
local groups = KEYS[6] -- hash: the groups
local turns = KEYS[7] -- list: groups that may be served, in turn
local held = KEYS[8] -- sorted set: groups that their rate holds back -> until when, in ms
local ids = KEYS[9] -- hash: ids and unique keys of users
local dead = KEYS[10] -- sorted set: dead jobs -> when they died, in ms
local failed = KEYS[11] -- sorted set: dead jobs -> number of the kind of their failure
local kinds = KEYS[12] -- hash: kinds of failures
local idle = KEYS[13] -- sorted set: workers that wait -> their number
local scheduled = KEYS[14] -- sorted set: jobs that wait for their time -> that time, in ms
local blocked = KEYS[15] -- sorted set: jobs that wait for their parents -> their number
local children = KEYS[16] -- sorted set: ref of a parent and child that waits for it
local parents = KEYS[17] -- sorted set: ref of a parent -> 0: it has ended; else when to ask after it, in ms
local outbox = KEYS[18] -- sorted set: what goes to other queues -> its number
local listeners = KEYS[19] -- hash: who listens to events, where, and the number of the newest message
local tagged = KEYS[20] -- sorted set: '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
local notes = KEYS[21] -- string: what the statistics do not hold yet; see shared/queue/statistics
local stats = KEYS[22] -- hash: statistics of minutes, hours and days
local results = KEYS[23] -- hash: ends of jobs, for those who ask
local channel = ARGV[1] -- text: beginning of the channels of processes
local sharded = ARGV[2] == '1' -- flag: whether those are sharded channels
local counted = ARGV[3] == '1' -- flag: whether the number of those who hear tells who is gone
local kind = ARGV[4] -- text: of their failure
local limit = tonumber(ARGV[5]) -- integer: how many at most
local drops = ARGV[6] == '1' -- flag: whether to remove them
local after = tonumber(ARGV[7] or 0) -- integer: the marker; 0: from the start

local keys = {
  jobs = jobs,
  ready = ready,
  prioritized = prioritized,
  grouped = grouped,
  groups = groups,
  turns = turns,
  held = held,
  dead = dead,
  failed = failed,
  kinds = kinds,
  scheduled = scheduled,
  ids = ids,
  blocked = blocked,
  children = children,
  parents = parents,
  outbox = outbox,
  tagged = tagged,
  results = results,
}

local queue = open_queue(meta, '', '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
if queue.listened_ms > now_ms then
  queue.events = {}
end
local how = { channel = channel, sharded = sharded, counted = counted }
try_rights(meta, queue, keys)
local numbers, is_end = page_of_kind(failed, kinds, kind, after, limit)
local count = 0
for _, seq in ipairs(numbers) do
  local stored = redis.call('HMGET', jobs, seq, 'r' .. seq)
  local job, run = read_job(stored[1], queue.usual), unpack_run(stored[2])
  if drops then
    leave_dead(keys, queue, seq, run)
    happened(queue, 'cancelled', seq, job, run, '')
    erase_job(keys, queue, seq, job, run)
    queue.cancelled = queue.cancelled + 1
    count_job(queue, 'c', run.name)
    count = count + 1
  elseif may_hold_again(ids, job, seq, now_ms) then
    leave_dead(keys, queue, seq, run)
    begin_again(keys, queue, seq, job, run, now_us)
    hold_again(ids, job, seq)
    count = count + 1
  end
end
local standing = drops and 0 or count
if queue.settling then
  standing = standing + settle_children(keys, queue, now_us, 100)
  see_to_rest(idle, queue, now_ms, how)
end
if queue.idle > 0 then
  call_idle(idle, queue, math.min(standing, 8), now_ms, how)
end
if queue.counted then
  leave_notes(notes, stats, queue, packed_notes(queue), now_ms)
end
if queue.events then
  publish(listeners, queue.events, now_ms)
end
save_queue(meta, queue)
local _, left = string.match(redis.call('HGET', kinds, kind) or '', '^(%d+) (%d+) ')
local next_number = is_end and -1 or tonumber(numbers[#numbers])
return { 'requeued', count, tonumber(left or 0), queue.chores, next_number, queue.last }

--[[
Cancels jobs. One that is not claimed is removed, also one that is dead or done: `cancelled`. One that is claimed is to
stop: `stopping`. Its worker is told when it extends, acks, retries or buries it; the job is removed when that gives it up by
one of the last three, or when its lease ends. `absent`: there is no such job. Repeating the call changes nothing more,
and says `absent` of what it removed. Where that takes long there are fewer outcomes than ids: the others are for the
next call. `chores` is what some process has to see to; 0: nothing.

@returns cancelled  chores:integer outcomes:[outcome:text]
@cost    O(jobs x log n), of at most 1,000 that change, and fewer with options and parents,
         and at times a list of at most 3,000 numbers,
         and at times 16 kB of notes for the statistics
]]
local meta = KEYS[1] -- hash: the queue's state
local jobs = KEYS[2] -- hash: all that is stored of each job
local prioritized = KEYS[3] -- sorted set: ready jobs with a priority -> the lower the sooner
local scheduled = KEYS[4] -- sorted set: jobs that wait for their time -> that time, in ms
local grouped = KEYS[5] -- sorted set: ready jobs of groups -> number of the group
local groups = KEYS[6] -- hash: the groups
local ids = KEYS[7] -- hash: ids and unique keys of users
local dead = KEYS[8] -- sorted set: dead jobs -> when they died, in ms
local failed = KEYS[9] -- sorted set: dead jobs -> number of the kind of their failure
local kinds = KEYS[10] -- hash: kinds of failures
local done = KEYS[11] -- sorted set: jobs that are done and kept -> when they ended, in ms
local ready = KEYS[12] -- list: ready jobs without group and priority
local turns = KEYS[13] -- list: groups that may be served, in turn
local held = KEYS[14] -- sorted set: groups that their rate holds back -> until when, in ms
local blocked = KEYS[15] -- sorted set: jobs that wait for their parents -> their number
local children = KEYS[16] -- sorted set: ref of a parent and child that waits for it
local parents = KEYS[17] -- sorted set: ref of a parent -> 0: it has ended; else when to ask after it, in ms
local outbox = KEYS[18] -- sorted set: what goes to other queues -> its number
local idle = KEYS[19] -- sorted set: workers that wait -> their number
local results = KEYS[20] -- hash: ends of jobs, for those who ask
local listeners = KEYS[21] -- hash: who listens to events, where, and the number of the newest message
local tagged = KEYS[22] -- sorted set: '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
local notes = KEYS[23] -- string: what the statistics do not hold yet; see shared/queue/statistics
local stats = KEYS[24] -- hash: statistics of minutes, hours and days
local channel = ARGV[1] -- text: beginning of the channels of processes
local sharded = ARGV[2] == '1' -- flag: whether those are sharded channels
local counted = ARGV[3] == '1' -- flag: whether the number of those who hear tells who is gone
local wanted, wanted_at = ARGV, 4 -- repeated (id:text): the jobs

local keys = {
  jobs = jobs,
  prioritized = prioritized,
  scheduled = scheduled,
  grouped = grouped,
  groups = groups,
  dead = dead,
  failed = failed,
  kinds = kinds,
  done = done,
  ready = ready,
  turns = turns,
  held = held,
  ids = ids,
  blocked = blocked,
  children = children,
  parents = parents,
  outbox = outbox,
  results = results,
  listeners = listeners,
  tagged = tagged,
  notes = notes,
  stats = stats,
}

local queue = open_queue(meta, '', '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end
local how = { channel = channel, sharded = sharded, counted = counted }
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
if queue.listened_ms > now_ms then
  queue.events = {}
end
local outcomes, has_tried = {}, false
for at = wanted_at, #wanted, 1 do
  if not may_do_more(queue) then
    break
  end
  local seq, record, run = find_job(jobs, ids, wanted[at])
  local is_held = run and (run.state == 'c' or run.state == 'x')
  if seq and not has_tried then
    if is_held then
      refuse_when_full(keys)
    end
    try_rights(meta, queue, keys)
    has_tried = true
  end
  if not seq then
    outcomes[#outcomes + 1] = 'absent'
  elseif is_held then
    if run.state == 'c' then
      happened(queue, 'stopping', seq, read_job(record, queue.usual), run, '')
      note_history(jobs, seq, run, 'x', now_ms, run.at_ms, '')
    end
    redis.call(
      'HSET',
      jobs,
      'r' .. seq,
      pack_run('x', run.token, run.attempts, run.at_ms, run.size, run.flags, run.name)
    )
    outcomes[#outcomes + 1] = 'stopping'
  else
    local job = read_job(record, queue.usual)
    displace(keys, queue, seq, job, run, size_of(record, run), now_us)
    happened(queue, 'cancelled', seq, job, run, '')
    if not run or run.state ~= 'd' and run.state ~= 'f' then
      note_end(queue, jobs, seq, job, run, 'x', '', '', '')
    end
    erase_job(keys, queue, seq, job, run)
    queue.cancelled = queue.cancelled + 1
    count_job(queue, 'c', job.name)
    outcomes[#outcomes + 1] = 'cancelled'
  end
end
if queue.settling then
  local became_ready = settle_children(keys, queue, now_us, 100)
  see_to_rest(idle, queue, now_ms, how)
  if queue.idle > 0 then
    call_idle(
      idle,
      queue,
      math.min(became_ready, 8),
      now_ms,
      { channel = channel, sharded = sharded, counted = counted }
    )
  end
end
if queue.left then
  sweep_ready(keys, queue, queue.left)
end
tell_others(keys, queue, now_ms, how)
save_queue(meta, queue)
return { 'cancelled', queue.chores, outcomes }

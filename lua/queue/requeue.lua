--[[
Makes jobs ready now, whatever they waited for: scheduled ones, blocked ones, dead ones, and ones that are done and kept.
Their attempts count from the start again, and their unique keys are theirs again. `requeued`, or why not: `ready`, `claimed`,
`absent`, or `duplicate`: another job has its unique key. Repeating the call changes nothing
more, and says `ready` or `claimed` of what it requeued. Where that takes long there are fewer outcomes than ids: the others are
for the next call.

@returns requeued  outcomes:[outcome:text]
@cost    O(jobs x log n), of at most 1,000 that change, and fewer with options, parents and large results
]]
local meta = KEYS[1] -- hash: the queue's state
local jobs = KEYS[2] -- hash: all that is stored of each job
local ready = KEYS[3] -- list: ready jobs without group and priority
local prioritized = KEYS[4] -- sorted set: ready jobs with a priority -> the lower the sooner
local scheduled = KEYS[5] -- sorted set: jobs that wait for their time -> that time, in ms
local grouped = KEYS[6] -- sorted set: ready jobs of groups -> number of the group
local groups = KEYS[7] -- hash: the groups
local turns = KEYS[8] -- list: groups that may be served, in turn
local held = KEYS[9] -- sorted set: groups that their rate holds back -> until when, in ms
local ids = KEYS[10] -- hash: ids and unique keys of users
local dead = KEYS[11] -- sorted set: dead jobs -> when they died, in ms
local failed = KEYS[12] -- sorted set: dead jobs -> number of the kind of their failure
local kinds = KEYS[13] -- hash: kinds of failures
local done = KEYS[14] -- sorted set: jobs that are done and kept -> when they ended, in ms
local idle = KEYS[15] -- sorted set: workers that wait -> their number
local blocked = KEYS[16] -- sorted set: jobs that wait for their parents -> their number
local children = KEYS[17] -- sorted set: ref of a parent and child that waits for it
local parents = KEYS[18] -- sorted set: ref of a parent -> 0: it has ended; else when to ask after it, in ms
local listeners = KEYS[19] -- hash: who listens to events, where, and the number of the newest message
local results = KEYS[20] -- hash: ends of jobs, for those who ask
local channel = ARGV[1] -- text: beginning of the channels of processes
local sharded = ARGV[2] == '1' -- flag: whether those are sharded channels
local counted = ARGV[3] == '1' -- flag: whether the number of those who hear tells who is gone
local wanted, wanted_at = ARGV, 4 -- repeated (id:text): the jobs

local keys = {
  jobs = jobs,
  ready = ready,
  prioritized = prioritized,
  scheduled = scheduled,
  grouped = grouped,
  groups = groups,
  turns = turns,
  held = held,
  dead = dead,
  failed = failed,
  kinds = kinds,
  done = done,
  blocked = blocked,
  children = children,
  parents = parents,
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
try_rights(meta, queue, keys)
local outcomes, requeued = {}, 0
for at = wanted_at, #wanted, 1 do
  if not may_do_more(queue) then
    break
  end
  local seq, record, run = find_job(jobs, ids, wanted[at])
  local outcome = not seq and 'absent' or state_of(run)
  if outcome == 'stopping' then
    outcome = 'claimed'
  elseif seq and outcome ~= 'ready' and outcome ~= 'claimed' then
    local job = read_job(record, queue.usual)
    outcome = 'duplicate'
    if may_hold_again(ids, job, seq, now_ms) then
      displace(keys, queue, seq, job, run, size_of(record, run), now_us)
      begin_again(keys, queue, seq, job, run, now_us)
      hold_again(ids, job, seq)
      outcome = 'requeued'
      requeued = requeued + 1
    end
  end
  outcomes[#outcomes + 1] = outcome
end
if queue.idle > 0 then
  call_idle(
    idle,
    queue,
    math.min(requeued, 8),
    now_ms,
    { channel = channel, sharded = sharded, counted = counted }
  )
end
if queue.events then
  publish(listeners, queue.events, now_ms)
end
save_queue(meta, queue)
return { 'requeued', outcomes }

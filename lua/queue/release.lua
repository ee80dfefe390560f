--[[
Gives claimed jobs back to others, untouched: each is ready again before all that wait, as if this attempt had never
begun. Each job is judged by itself: those named in `refused` (places counted from 0) have been lost, and why. A repeated
call is answered the same and does nothing more.

@returns released  refused:[at:integer why:text]
@cost    O(jobs x log n)
]]
local meta = KEYS[1] -- hash: the queue's state
local jobs = KEYS[2] -- hash: all that is stored of each job
local ready = KEYS[3] -- list: ready jobs without group and priority
local prioritized = KEYS[4] -- sorted set: ready jobs with a priority -> the lower the sooner
local leases = KEYS[5] -- sorted set: claimed jobs -> when the lease ends, in ms
local grouped = KEYS[6] -- sorted set: ready jobs of groups -> number of the group
local groups = KEYS[7] -- hash: the groups
local turns = KEYS[8] -- list: groups that may be served, in turn
local held = KEYS[9] -- sorted set: groups that their rate holds back -> until when, in ms
local ids = KEYS[10] -- hash: ids and unique keys of users
local idle = KEYS[11] -- sorted set: workers that wait -> their number
local results = KEYS[12] -- hash: ends of jobs, for those who ask
local listeners = KEYS[13] -- hash: who listens to events, where, and the number of the newest message
local tagged = KEYS[14] -- sorted set: '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
local codec = ARGV[1] -- text: name of the codec that made the payloads
local caller = ARGV[2] -- text: process and slot; empty: the call is not remembered
local call = ARGV[3] -- text: number of the call in that slot
local channel = ARGV[4] -- text: beginning of the channels of processes
local sharded = ARGV[5] == '1' -- flag: whether those are sharded channels
local counted = ARGV[6] == '1' -- flag: whether the number of those who hear tells who is gone
local claims, claims_at = ARGV, 7 -- repeated (number:text token:integer): the jobs

-- @include shared/clock
-- @include shared/calls
-- @include shared/tell
-- @include shared/queue/state
-- @include shared/queue/save
-- @include shared/queue/save-call
-- @include shared/queue/marks
-- @include shared/queue/rate
-- @include shared/queue/job
-- @include shared/queue/run
-- @include shared/queue/happened
-- @include shared/queue/flags
-- @include shared/queue/flagged
-- @include shared/queue/entries
-- @include shared/queue/history
-- @include shared/queue/names
-- @include shared/queue/groups
-- @include shared/queue/ready
-- @include shared/queue/end
-- @include shared/queue/note-end
-- @include shared/queue/tell-others
-- @include shared/queue/stop
-- @include shared/queue/idle
-- @include shared/queue/judge-one
-- @include shared/queue/told

local keys = {
  jobs = jobs,
  ready = ready,
  prioritized = prioritized,
  leases = leases,
  grouped = grouped,
  groups = groups,
  turns = turns,
  held = held,
  ids = ids,
  results = results,
  listeners = listeners,
  tagged = tagged,
}

local queue = open_queue(meta, codec, caller)
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end
if queue.codec ~= codec then
  return redis.error_reply('CODEC ' .. queue.codec)
end
local remembered, superseded = recall(queue.record, call)
if superseded then
  return redis.error_reply('INVALID call: a later one has taken its slot')
end
if remembered then
  return { 'released', parse_refused(remembered) }
end
local how = { channel = channel, sharded = sharded, counted = counted }
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
if queue.listened_ms > now_ms then
  queue.events = {}
end
local refused = {}
-- From the last to the first: each goes before the one behind it.
for at = #claims - 1, claims_at, -2 do
  local seq = claims[at]
  local record, run, why = judge_job(jobs, seq, tonumber(claims[at + 1]))
  if why then
    table.insert(refused, 1, why)
    table.insert(refused, 1, (at - claims_at) / 2)
    if why == 'cancelled' then
      stop_job(keys, queue, seq, now_us)
    end
  else
    local job = read_job(record)
    redis.call('ZREM', leases, seq)
    end_claim(keys, queue, job, run, now_us)
    happened(queue, 'released', seq, job, run, '')
    note_history(jobs, seq, run, 'g', now_ms, run.at_ms, '')
    redis.call(
      'HSET',
      jobs,
      'r' .. seq,
      pack_run('b', run.token, run.attempts - 1, now_ms, run.size, run.flags, run.name)
    )
    queue.ready = queue.ready + run.size
    stand_ready(keys, queue, job, seq, true, now_us)
  end
end
if queue.idle > 0 then
  local released = (#claims - claims_at + 1) / 2 - #refused / 2
  call_idle(idle, queue, math.min(released, 8), how)
end
tell_others(keys, queue, now_ms, how)
save_queue_and_call(meta, queue, caller, call, now_ms, format_places(refused, {}))
return { 'released', refused }

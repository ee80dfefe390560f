--[[
Puts jobs into a queue, each with options of its own. Their numbers are `first`, `first + 1` and so on in the order
given, but for those named in `duplicates` (places counted from 0), whose id is that of a job that is still known, or
whose unique key is held: those are not enqueued, and `number` is that of the other job. A duplicate that may `replace`
gives a job that was not claimed yet its options and its payload, and where it is delayed that job waits anew: it is
told in `duplicates` all the same. No other job comes between those of one call. A repeated call enqueues nothing.

@returns enqueued  first:integer duplicates:[at:integer number:integer]
@cost    O(jobs x log n)
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
local idle = KEYS[11] -- sorted set: workers that wait -> their number
local listeners = KEYS[12] -- hash: who listens to events, where, and the number of the newest message
local tagged = KEYS[13] -- sorted set: '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
local codec = ARGV[1] -- text: name of the codec that made the payloads
local caller = ARGV[2] -- text: process and slot; empty: the call is not remembered
local call = ARGV[3] -- text: number of the call in that slot
local channel = ARGV[4] -- text: beginning of the channels of processes
local sharded = ARGV[5] == '1' -- flag: whether those are sharded channels
local counted = ARGV[6] == '1' -- flag: whether the number of those who hear tells who is gone
local specs, specs_at = ARGV, 7 -- repeated (name:text payload:bytes id:text delay_ms:integer priority:integer max_attempts:integer max_run_ms:integer backoff:integer backoff_ms:integer backoff_max_ms:integer jitter:integer group:text unique:text until:text window_ms:integer replace:flag trace:text tags:text keep_result_ms:integer): see shared/queue/job; `until`: s, d or w

-- @include shared/exact
-- @include shared/exact-range
-- @include shared/clock
-- @include shared/calls
-- @include shared/tell
-- @include shared/queue/state
-- @include shared/queue/save
-- @include shared/queue/save-call
-- @include shared/queue/marks
-- @include shared/queue/note-due
-- @include shared/queue/rate
-- @include shared/queue/job
-- @include shared/queue/run
-- @include shared/queue/happened
-- @include shared/queue/flags
-- @include shared/queue/names
-- @include shared/queue/groups
-- @include shared/queue/ready
-- @include shared/queue/number
-- @include shared/queue/enter-tags
-- @include shared/queue/enqueue
-- @include shared/queue/replace
-- @include shared/queue/idle

local keys = {
  jobs = jobs,
  ready = ready,
  prioritized = prioritized,
  scheduled = scheduled,
  grouped = grouped,
  groups = groups,
  turns = turns,
  held = held,
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
  return { 'enqueued', first_of(remembered), duplicates_of(remembered) }
end
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
if queue.listened_ms > now_ms then
  queue.events = {}
end
local count = (#specs - specs_at + 1) / 19
local first = number_jobs(queue, count, now_us)
local form, base = exact_range(first, queue.last)
local duplicates, soonest_ms, standing, has_windows = {}, math.huge, 0, false
begin_queue(meta, queue, now_us)
for at = specs_at, #specs, 19 do
  local place = (at - specs_at) / 19
  local seq, delay_ms = string.format(form, first - base + place), tonumber(specs[at + 3])
  local due_ms = delay_ms > 0 and now_ms + delay_ms or 0
  local unique, till, window_ms = specs[at + 12], specs[at + 13], tonumber(specs[at + 14])
  local job = {
    name = specs[at],
    id = specs[at + 2],
    priority = tonumber(specs[at + 4]),
    max_attempts = tonumber(specs[at + 5]),
    max_run_ms = tonumber(specs[at + 6]),
    backoff = tonumber(specs[at + 7]),
    backoff_ms = tonumber(specs[at + 8]),
    backoff_max_ms = tonumber(specs[at + 9]),
    jitter = tonumber(specs[at + 10]),
    group = specs[at + 11],
    unique = unique == '' and '' or till .. unique,
    trace = specs[at + 16],
    tags = specs[at + 17],
    keep_result_ms = tonumber(specs[at + 18]),
  }
  local other = job.id ~= '' and redis.call('HGET', ids, 'i' .. job.id)
    or unique ~= '' and holder_of_unique(ids, unique, now_ms)
  if other then
    duplicates[#duplicates + 1] = place
    duplicates[#duplicates + 1] = tonumber(other)
    queue.enqueued = queue.enqueued - 1
    if specs[at + 15] == '1' then
      replace_job(keys, queue, other, job, specs[at + 1], due_ms, now_us)
      standing = standing + (due_ms == 0 and 1 or 0)
    end
  else
    happened(queue, 'enqueued', seq, job, nil, '')
    add_job(keys, queue, seq, job, specs[at + 1], due_ms, now_us)
    if job.id ~= '' then
      redis.call('HSET', ids, 'i' .. job.id, seq)
    end
    if unique ~= '' then
      hold_unique(ids, unique, seq, till, now_ms + window_ms)
      has_windows = has_windows or till == 'w'
    end
    standing = standing + (due_ms == 0 and 1 or 0)
  end
  soonest_ms = due_ms > 0 and math.min(soonest_ms, due_ms) or soonest_ms
end
if has_windows then
  forget_old_uniques(ids, now_ms)
end
if queue.idle > 0 then
  local how = { channel = channel, sharded = sharded, counted = counted }
  call_idle(idle, queue, math.min(standing, 8), how)
  if soonest_ms < math.huge then
    see_to(idle, queue, soonest_ms, now_ms, how)
  end
end
if queue.events then
  -- @include shared/queue/publish
  publish(listeners, queue.events, now_ms)
end
save_queue_and_call(meta, queue, caller, call, now_ms, format_enqueued(first, duplicates))
return { 'enqueued', first, duplicates }

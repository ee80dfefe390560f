-- Changes to recurrences.

-- After all recurrences that run.
local NO_RUN = '9007199254740991'

local function pack_times(times)
  local packed = {}
  for at, time_ms in ipairs(times) do
    packed[at] = struct.pack('>d', time_ms)
  end
  return table.concat(packed)
end

-- Whether some process has to refill it.
local function note_short(short, queue, id, recurrence)
  if not is_short(recurrence) then
    return leave_short(short, queue, id)
  end
  redis.call('ZADD', short, exact(recurrence.known_ms), id)
  queue.chores = with_flag(queue.chores, CHORES.refill)
end

-- The commands after the first write, each once on nothing: a recurrence missing from the sorted set would never run.
local function try_progress(keys)
  redis.call('ZADD', keys.recurring, 'XX', '0', '')
  redis.call('ZREM', keys.short, '')
  redis.call('EXISTS', keys.short)
end

-- Saves the progress of a recurrence, after its times or its runs have changed. One that `is_held` runs no more of its
-- times before others are known.
local function save_progress(keys, queue, id, recurrence)
  local is_cron = recurrence.every_ms == 0
  if recurrence.limit > 0 and recurrence.runs >= recurrence.limit then
    recurrence.complete, recurrence.next_ms, recurrence.times = true, 0, {}
  elseif is_cron then
    recurrence.next_ms = recurrence.times[1] or 0
  elseif recurrence.until_ms > 0 and recurrence.next_ms > recurrence.until_ms then
    recurrence.complete, recurrence.next_ms = true, 0
  end
  local progress = struct.pack(
    '>dddddB',
    recurrence.next_ms,
    recurrence.last_ms,
    recurrence.last_job,
    recurrence.runs,
    recurrence.known_ms,
    recurrence.complete and 1 or 0
  )
  redis.call('HSET', keys.recurrences, 's' .. id, progress, 't' .. id, pack_times(recurrence.times))
  local runs_next = recurrence.next_ms > 0 and not recurrence.is_held
  redis.call('ZADD', keys.recurring, runs_next and exact(recurrence.next_ms) or NO_RUN, id)
  note_short(keys.short, queue, id, recurrence)
end

-- New or changed recurrences.

local RULE = arguments({
  every_ms = 'integer', -- the interval; 0: by cron
  offset_ms = 'integer', -- origin of the intervals, below `every_ms`
  cron = 'text', -- the expression
  time_zone = 'text', -- the zone of the expression
})

local function pack_rule(rule)
  local cron, time_zone = rule.cron, rule.time_zone
  return struct.pack('>ddHc0Hc0', rule.every_ms, rule.offset_ms, #cron, cron, #time_zone, time_zone)
end

local TEMPLATE = arguments({
  missed = 'integer', -- how many due runs get jobs; 0: only one on time
  limit = 'integer', -- how many jobs to spawn in all; 0: no bound
  until_ms = 'integer', -- no run is later; 0: no bound
  name = 'text', -- name of the jobs; the following are as in enqueue
  payload = 'bytes', -- payload of the jobs
  priority = 'integer', -- priority of the jobs
  max_attempts = 'integer', -- of the jobs
  max_run_ms = 'integer', -- of the jobs
  backoff = 'integer', -- of the jobs
  backoff_ms = 'integer', -- of the jobs
  backoff_max_ms = 'integer', -- of the jobs
  jitter = 'integer', -- of the jobs
  group = 'text', -- group of the jobs
  unique = 'text', -- unique key of the jobs; while a job holds it, a run spawns none
  till = 'text', -- until when a job holds that key: s, d or w
  window_ms = 'integer', -- for how long, if it holds the key for a time
  trace = 'text', -- of the jobs
  tags = 'text', -- of the jobs
})

local function pack_template(template)
  template.id, template.result_ttl_ms = '', 0
  if template.unique ~= '' then
    template.unique = template.till .. template.unique
  end
  local bounds = struct.pack('>dddd', template.missed, template.limit, template.until_ms, template.window_ms)
  return bounds .. full_head(template) .. template.payload
end

-- The time after which the runs of a recurrence begin. With the same rule they continue; with another rule, or after
-- its end, they begin now, and no time runs twice.
local function begins_behind(before, rule, now_ms)
  if not before then
    return now_ms
  elseif before.rule ~= rule or (before.complete and before.next_ms == 0) then
    return math.max(now_ms, before.last_ms)
  end
  return before.next_ms > 0 and before.next_ms - 1 or before.known_ms
end

-- The definition is stored already. Returns the present recurrence.
local function begin_recurrence(keys, queue, id, before, rule)
  local behind_ms = begins_behind(before, rule, queue.now_ms)
  set_mark(queue, MARKS.recurrences)
  local was = before or { last_ms = 0, last_job = 0, runs = 0 }
  local blank = struct.pack('>dddddB', 0, was.last_ms, was.last_job, was.runs, behind_ms, 0)
  redis.call('HSET', keys.recurrences, 's' .. id, blank, 't' .. id, '')
  local recurrence = read_recurrence(keys.recurrences, id)
  if recurrence.every_ms > 0 then
    recurrence.next_ms = next_interval(recurrence, behind_ms)
  end
  save_progress(keys, queue, id, recurrence)
  return recurrence
end

-- Recurring jobs. In the hash of recurrences, under a letter and the id that its user gave:
--   d   the rule: every how many ms and from where, or a cron expression and its time zone, which are kept for the
--       callers that compute its times
--   j   the bounds (missed runs to make up for, jobs at most, end), and the job: a head without id, and the payload
--   s   its progress: the next run, the last run and its job, how many, the last known time
--   t   the future times of a cron expression, as doubles
--   m   how often it has moved to another partition of the queue: if two have it, the one with fewer moves gives way
-- `recurring` has all of them by their next run; one that has ended, or waits for more times, is at NO_RUN. The last
-- known time is not run before a later one is known: otherwise no one could say whether it was missed.
--
-- One that is `complete` has no times after the known ones.

-- With fewer known times than this a recurrence is short of them.
local SHORT = 25

local function unpack_times(packed)
  local times = {}
  for at = 1, #packed, 8 do
    times[#times + 1] = struct.unpack('>d', packed, at)
  end
  return times
end

-- Its runs, parsed from the stored rule, progress and times.
local function unpack_runs(rule, progress, times)
  local every_ms, offset_ms, cron, time_zone = struct.unpack('>ddHc0Hc0', rule)
  local next_ms, last_ms, last_job, runs, known_ms, complete = struct.unpack('>dddddB', progress)
  return {
    rule = rule,
    every_ms = every_ms,
    offset_ms = offset_ms,
    cron = cron,
    time_zone = time_zone,
    next_ms = next_ms,
    last_ms = last_ms,
    last_job = last_job,
    runs = runs,
    known_ms = known_ms,
    complete = complete == 1,
    times = unpack_times(times or ''),
  }
end

-- The recurrence, or nil.
local function read_recurrence(recurrences, id)
  local stored = redis.call('HMGET', recurrences, 'd' .. id, 's' .. id, 't' .. id, 'j' .. id)
  if not stored[1] then
    return nil
  end
  local recurrence, template = unpack_runs(stored[1], stored[2], stored[3]), stored[4]
  local missed, limit, until_ms, window_ms, record_at = struct.unpack('>dddd', template)
  recurrence.template = template
  recurrence.missed, recurrence.limit = missed, limit
  recurrence.until_ms, recurrence.window_ms = until_ms, window_ms
  recurrence.record = string.sub(template, record_at)
  return recurrence
end

-- Whether its known times come after others that were not supplied yet, because the clock has stepped back since; see
-- shared/queue/due.
local function is_to_be_replaced(recurrence)
  return #recurrence.times > 0 and recurrence.times[1] > recurrence.known_ms
end

local function is_short(recurrence)
  return recurrence.every_ms == 0
    and not recurrence.complete
    and (recurrence.is_held or #recurrence.times < SHORT or is_to_be_replaced(recurrence))
end

-- Recurrences with few known times. As long as there are any, claims report a chore; see CHORES.

-- No longer short of times.
local function leave_short(short, queue, id)
  local is_reported = has_flag(queue.chores, CHORES.refill)
  if is_reported and redis.call('ZREM', short, id) == 1 and redis.call('EXISTS', short) == 0 then
    queue.chores = queue.chores - CHORES.refill
  end
end

-- Spawns the jobs of due recurrences: one for each run, in the script that advances the recurrence, so there is no
-- second one. A run is missed (a misfire) if a later one of its recurrence is due, too, or if it is late by more than a
-- minute. Of several due runs, missed or not, the latest are spawned, up to the number that the recurrence makes up
-- for; if that is 0, only one that was not missed.

local MISFIRE_MS = 60000

-- How many of the due runs are spawned, the latest of which is this.
local function count_runs(recurrence, latest_ms, now_ms)
  if recurrence.missed > 0 then
    return recurrence.missed
  end
  return now_ms - latest_ms <= MISFIRE_MS and 1 or 0
end

-- The next due runs of an interval, at most so many; advances it.
local function take_intervals(recurrence, now_ms, most)
  local every_ms, next_ms = recurrence.every_ms, recurrence.next_ms
  local end_ms = recurrence.until_ms > 0 and math.min(now_ms, recurrence.until_ms) or now_ms
  local latest_ms = next_ms + math.floor((end_ms - next_ms) / every_ms) * every_ms
  local count = count_runs(recurrence, latest_ms, now_ms)
  local times, time_ms = {}, math.max(next_ms, latest_ms - (count - 1) * every_ms)
  while time_ms <= latest_ms and #times < most do
    times[#times + 1] = time_ms
    time_ms = time_ms + every_ms
  end
  recurrence.next_ms = time_ms
  return times
end

-- The next due ones of the known times, at most so many, and none if unknown later ones may be due.
local function take_times(recurrence, now_ms, most)
  local known, due = recurrence.times, 0
  while due < #known and known[due + 1] <= now_ms do
    due = due + 1
  end
  if due == #known and not recurrence.complete then
    recurrence.is_held = true
    return {}
  end
  local count = due > 0 and count_runs(recurrence, known[due], now_ms) or 0
  local from = math.max(1, due - count + 1)
  local to = math.min(due, from + most - 1)
  local times, left = {}, {}
  for at = from, #known do
    if at <= to then
      times[#times + 1] = known[at]
    else
      left[#left + 1] = known[at]
    end
  end
  recurrence.times = left
  return times
end

-- Enqueues the job of a run, unless its id is known or its unique key is held. The job is ready since its run was due.
local function spawn_job(keys, queue, id, recurrence, time_ms)
  local job, now_ms = read_job(recurrence.record), queue.now_ms
  local till, key = string.sub(job.unique, 1, 1), string.sub(job.unique, 2)
  job.id = id .. '@' .. exact(time_ms)
  if
    redis.call('HEXISTS', keys.ids, 'i' .. job.id) == 1
    or (key ~= '' and holder_of_unique(keys.ids, key, now_ms))
  then
    return
  end
  local number = number_jobs(queue, 1)
  local seq, payload = exact(number), string.sub(recurrence.record, job.body_at)
  local fields, size, flags = record_fields(queue, seq, full_head(job), payload)
  add_run(fields, seq, pack_new_run('r', time_ms, size, flags, job.name))
  redis.call('HSET', keys.jobs, unpack(fields))
  redis.call('HSET', keys.ids, 'i' .. job.id, seq)
  enter_tags(keys.tagged, seq, job.tags)
  happened(queue, 'enqueued', seq, job, nil, '')
  count_job(queue, 'e', job.name)
  if key ~= '' then
    hold_unique(keys.ids, key, seq, till, now_ms + recurrence.window_ms)
  end
  if place_ready(keys, queue, job, seq, size, 'r') == 's' then
    redis.call('HSET', keys.jobs, 'r' .. seq, pack_new_run('s', time_ms, size, flags, job.name))
  end
  recurrence.last_ms, recurrence.last_job, recurrence.runs = time_ms, number, recurrence.runs + 1
end

-- At most so many runs, and recurrences, until their bytes reach CALL_BYTES.
local function spawn_due(keys, queue, most)
  local due = redis.call('ZRANGEBYSCORE', keys.recurring, '-inf', queue.now_ms, 'LIMIT', '0', most)
  local bytes = 0
  for _, id in ipairs(due) do
    if most > 0 and bytes < CALL_BYTES then
      -- A removal comes first, so that this works when the server is out of memory.
      redis.call('ZREM', keys.recurring, id)
      local recurrence = read_recurrence(keys.recurrences, id)
      local left = recurrence.limit > 0 and recurrence.limit - recurrence.runs or most
      local take = recurrence.every_ms > 0 and take_intervals or take_times
      local fits = math.ceil((CALL_BYTES - bytes) / math.max(1, #recurrence.record))
      local times = take(recurrence, queue.now_ms, math.min(most, left, fits))
      for _, time_ms in ipairs(times) do
        spawn_job(keys, queue, id, recurrence, time_ms)
      end
      most, bytes = most - #times, bytes + #recurrence.record * (#times + 1)
      save_progress(keys, queue, id, recurrence)
    end
  end
end

-- Appends all data of a recurrence to a list. Returns its bytes.
local function report_recurrence(reported, recurrences, id)
  local recurrence = read_recurrence(recurrences, id)
  if not recurrence then
    return 0
  end
  local job = read_job(recurrence.record)
  local parts = {
    id,
    recurrence.next_ms,
    recurrence.last_ms,
    recurrence.last_job,
    recurrence.runs,
    recurrence.known_ms,
    is_short(recurrence) and 1 or 0,
    recurrence.every_ms,
    recurrence.offset_ms,
    recurrence.cron,
    recurrence.time_zone,
    recurrence.missed,
    recurrence.limit,
    recurrence.until_ms,
    job.name,
    string.sub(recurrence.record, job.body_at),
    job.priority,
    job.max_attempts,
    job.max_run_ms,
    job.backoff,
    job.backoff_ms,
    job.backoff_max_ms,
    job.jitter,
    job.group,
    string.sub(job.unique, 2),
    string.sub(job.unique, 1, 1),
    recurrence.window_ms,
    job.trace,
    job.tags,
  }
  for _, part in ipairs(parts) do
    reported[#reported + 1] = part
  end
  return #recurrence.record
end

-- Spawning the jobs of recurrences that are due: one for each run, in the script that moves the recurrence on, so there
-- is no second one. A run is missed when a later one of its recurrence is due, too, or when it is late by more than a minute.
-- Of several that are due, missed or not, as many of the latest are spawned as the recurrence makes up for; where it makes up
-- for none, only one that was not missed.

local MISFIRE_MS = 60000

-- How many of the runs that are due are spawned, of which this is the latest.
local function count_runs(recurrence, latest_ms, now_ms)
  if recurrence.missed > 0 then
    return recurrence.missed
  end
  return now_ms - latest_ms <= MISFIRE_MS and 1 or 0
end

-- The next runs of an interval that are due, at most so many; moves it on.
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

-- The next of the known times that are due, at most so many, and none where later ones may be due that are not known.
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
local function spawn_job(keys, queue, id, recurrence, time_ms, now_us)
  local job, now_ms = read_job(recurrence.record), math.floor(now_us / 1000)
  local till, key = string.sub(job.unique, 1, 1), string.sub(job.unique, 2)
  job.id = id .. '@' .. exact(time_ms)
  if
    redis.call('HEXISTS', keys.ids, 'i' .. job.id) == 1
    or (key ~= '' and holder_of_unique(keys.ids, key, now_ms))
  then
    return
  end
  local number = number_jobs(queue, 1, now_us)
  local seq, payload = exact(number), string.sub(recurrence.record, job.body_at)
  local fields, size, flags = record_fields(queue, seq, full_head(job), payload)
  add_run(fields, seq, pack_run('r', 0, 0, time_ms, size, flags, job.name))
  redis.call('HSET', keys.jobs, unpack(fields))
  redis.call('HSET', keys.ids, 'i' .. job.id, seq)
  enter_tags(keys.tagged, seq, job.tags)
  happened(queue, 'enqueued', seq, job, nil, '')
  count_job(queue, 'e', job.name)
  if key ~= '' then
    hold_unique(keys.ids, key, seq, till, now_ms + recurrence.window_ms)
  end
  if place_ready(keys, queue, job, seq, size, 'r', now_us) == 's' then
    redis.call('HSET', keys.jobs, 'r' .. seq, pack_run('s', 0, 0, time_ms, size, flags, job.name))
  end
  recurrence.last_ms, recurrence.last_job, recurrence.runs = time_ms, number, recurrence.runs + 1
end

-- At most so many runs, and recurrences, and no more behind those that reach CALL_BYTES.
local function spawn_due(keys, queue, now_us, most)
  local now_ms = math.floor(now_us / 1000)
  local due = redis.call('ZRANGEBYSCORE', keys.recurring, '-inf', now_ms, 'LIMIT', '0', most)
  local bytes = 0
  for _, id in ipairs(due) do
    if most > 0 and bytes < CALL_BYTES then
      -- A removal first, so that it also works when the server is out of memory.
      redis.call('ZREM', keys.recurring, id)
      local recurrence = read_recurrence(keys.recurrences, id)
      local left = recurrence.limit > 0 and recurrence.limit - recurrence.runs or most
      local take = recurrence.every_ms > 0 and take_intervals or take_times
      local fits = math.ceil((CALL_BYTES - bytes) / math.max(1, #recurrence.record))
      local times = take(recurrence, now_ms, math.min(most, left, fits))
      for _, time_ms in ipairs(times) do
        spawn_job(keys, queue, id, recurrence, time_ms, now_us)
      end
      most, bytes = most - #times, bytes + #recurrence.record * (#times + 1)
      save_progress(keys, queue, id, recurrence)
    end
  end
end

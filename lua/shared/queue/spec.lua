-- A job as it comes: a group of a repeated argument, with the fields that the argument of `enqueue` declares.
local SPEC_FIELDS = 22

local function read_spec(specs, at)
  local unique = specs[at + 12]
  return {
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
    unique = unique == '' and '' or specs[at + 13] .. unique,
    trace = specs[at + 16],
    tags = specs[at + 17],
    keep_result_ms = tonumber(specs[at + 21]),
  }
end

-- Whether what comes may change jobs that are there: it replaces some, waits for some, or takes the place of one that was done.
local function meets_others(queue, specs, specs_at)
  for at = specs_at, #specs, SPEC_FIELDS do
    if specs[at + 15] == '1' or specs[at + 18] ~= '' then
      return true
    end
  end
  return queue.done > 0
end

-- What comes behind the first write, each command once on nothing: of a job alone that stands in the list there is none.
local function try_places(keys, specs, specs_at)
  local are_many, is_grouped = #specs - specs_at >= SPEC_FIELDS, specs[specs_at + 11] ~= ''
  if
    are_many
    or is_grouped
    or specs[specs_at + 3] ~= '0'
    or specs[specs_at + 4] ~= '0'
    or specs[specs_at + 17] ~= ''
  then
    redis.call('ZADD', keys.scheduled, 'XX', '0', '')
  end
  if are_many or is_grouped then
    redis.call('HGET', keys.ids, '')
  end
end

-- Before the first job of all.
local function begin_jobs(keys, queue)
  local entry = {}
  widen(queue, WIDE_JOBS, entry, '~')
  if #entry > 0 then
    redis.call('HSET', keys.jobs, unpack(entry))
  end
end

-- What comes of several: jobs that are ready, when the first of the others is due, keys that are held for a time, places and
-- numbers of duplicates.
local function new_spec_tally()
  return { ready = 0, soonest_ms = math.huge, windows = 0, duplicates = {} }
end

local function tally_due(tally, due_ms)
  if due_ms == 0 then
    tally.ready = tally.ready + 1
  else
    tally.soonest_ms = math.min(tally.soonest_ms, due_ms)
  end
end

local function hold_names(keys, tally, specs, at, job, seq, now_ms)
  if job.id ~= '' then
    redis.call('HSET', keys.ids, 'i' .. job.id, seq)
  end
  if job.unique ~= '' then
    hold_unique(keys.ids, specs[at + 12], seq, specs[at + 13], now_ms + specs[at + 14])
    tally.windows = tally.windows + (specs[at + 13] == 'w' and 1 or 0)
  end
end

-- The number of the job that has an id, or nil. One that was done before the queue's age of what is kept has it no more,
-- and goes now: nothing else might be done that lets it go.
local function holder_of_id(keys, queue, id, now_ms)
  local seq = redis.call('HGET', keys.ids, 'i' .. id)
  local keep_ms = seq and queue.done > 0 and parse_settings(queue.settings).keep_ms or 0
  if keep_ms == 0 then
    return seq or nil
  end
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
  local run = stored[2] and unpack_run(stored[2])
  if not run or run.state ~= 'f' or run.at_ms > now_ms - keep_ms then
    return seq
  end
  redis.call('ZREM', keys.done, seq)
  queue.done = queue.done - run.size
  erase_job(keys, queue, seq, read_job(stored[1], queue.usual), run)
  return nil
end

-- Puts one job into the queue, unless it is a duplicate.
local function enqueue_spec(keys, queue, tally, specs, at, place, seq, now_us)
  local now_ms = math.floor(now_us / 1000)
  local job, payload, delay_ms = read_spec(specs, at), specs[at + 1], tonumber(specs[at + 3])
  local due_ms = delay_ms > 0 and now_ms + delay_ms or 0
  local key = specs[at + 20]
  local repeated = key ~= '' and job_of_key(keys.ids, key, now_ms)
  local other = repeated
    or job.id ~= '' and holder_of_id(keys, queue, job.id, now_ms)
    or job.unique ~= '' and holder_of_unique(keys.ids, specs[at + 12], now_ms)
  if key ~= '' and not repeated then
    remember_job_key(keys.ids, key, other or seq, now_ms)
    tally.windows = tally.windows + 1
  end
  if other then
    tally.duplicates[#tally.duplicates + 1] = place
    tally.duplicates[#tally.duplicates + 1] = tonumber(other)
    queue.enqueued = queue.enqueued - 1
    if specs[at + 15] == '1' and not repeated then
      replace_job(keys, queue, other, job, payload, due_ms, now_us)
      tally_due(tally, due_ms)
    end
    return
  end
  hold_names(keys, tally, specs, at, job, seq, now_ms)
  if queue.linked then
    -- Whoever had this id, or nobody, until now.
    queue.linked[job.id], queue.linked[seq] = nil, nil
  end
  happened(queue, 'enqueued', seq, job, nil, '')
  count_job(queue, 'e', job.name)
  local parents = specs[at + 18]
  if parents ~= '' and link_parents(keys, queue, seq, parents, specs[at + 19], delay_ms, now_ms) > 0 then
    add_blocked(keys, queue, seq, job, payload, now_ms)
  else
    add_job(keys, queue, seq, job, payload, due_ms, now_us)
    tally_due(tally, due_ms)
  end
end

-- What is to be done once all are in.
local function see_to_new(keys, queue, tally, now_ms, how)
  if queue.left then
    sweep_ready(keys, queue, queue.left)
  end
  if tally.windows > 0 then
    forget_old_uniques(keys.ids, tally.windows, now_ms)
  end
  if queue.idle > 0 then
    call_idle(keys.idle, queue, math.min(tally.ready, 8), now_ms, how)
    local soonest_ms = math.min(tally.soonest_ms, queue.settling and now_ms or math.huge)
    if soonest_ms < math.huge then
      see_to(keys.idle, queue, soonest_ms, now_ms, how)
    end
  end
end

-- A job on its way to another queue, as text.
local function pack_spec(specs, at)
  local parts = {}
  for place = 1, SPEC_FIELDS do
    local field = specs[at + place - 1]
    parts[place] = struct.pack('>I4', #field) .. field
  end
  return table.concat(parts)
end

local function unpack_spec(packed)
  local specs, at = {}, 1
  for place = 1, SPEC_FIELDS do
    specs[place], at = struct.unpack('>I4c0', packed, at)
  end
  return specs
end

-- A stored job, under its number in the hash of jobs: a head and the payload, which no script parses. The head of a
-- plain job, one with no option but its name, is the length of the name, a byte, and the name; with the queue's `usual`
-- name it is one byte that says so. Any other head begins with '\0', and has all the options; see `full_head`.
--
-- The number of a job is the server's microsecond at which it was enqueued, or one more than that of the previous job;
-- `id` is its user's name for it, and empty if that is the number.

-- The attempts of a plain job, and the code of an unset option.
local MAX_ATTEMPTS = 3
local BACKOFF, BACKOFF_MS, BACKOFF_MAX_MS, JITTER = 3, 1000, 3600000, 20

-- `backoff`: 0: none, 1: fixed, 2: linear, 3: exponential; `jitter` in percent; `unique`: the key that deduplicates,
-- after a letter that says until when; `tags` are separated by '\0'; `result_ttl_ms`: how long its end is kept for
-- waiters, 0: not at all.
local function full_head(job)
  return struct.pack(
    '>BHc0i4HI4BI4I4BHc0Hc0Hc0Hc0Hc0I4',
    0,
    #job.name,
    job.name,
    job.priority,
    job.max_attempts,
    job.max_run_ms,
    job.backoff,
    job.backoff_ms,
    job.backoff_max_ms,
    job.jitter,
    #job.group,
    job.group,
    #job.id,
    job.id,
    #job.unique,
    job.unique,
    #job.trace,
    job.trace,
    #job.tags,
    job.tags,
    job.result_ttl_ms
  )
end

-- Parses a record. The payload begins at `body_at`.
local function read_job(record, usual)
  if string.byte(record) > 0 then
    local name, body_at = plain_name(record, usual)
    return {
      is_plain = true,
      body_at = body_at,
      name = name,
      priority = 0,
      max_attempts = MAX_ATTEMPTS,
      max_run_ms = 0,
      backoff = BACKOFF,
      backoff_ms = BACKOFF_MS,
      backoff_max_ms = BACKOFF_MAX_MS,
      jitter = JITTER,
      group = '',
      id = '',
      unique = '',
      trace = '',
      tags = '',
      result_ttl_ms = 0,
    }
  end
  local _, name, priority, max_attempts, max_run_ms, backoff_at = struct.unpack('>BHc0i4HI4', record)
  local backoff, backoff_ms, backoff_max_ms, jitter, group_at = struct.unpack('>BI4I4B', record, backoff_at)
  local group, id, unique, trace, tags, result_ttl_ms, body_at =
    struct.unpack('>Hc0Hc0Hc0Hc0Hc0I4', record, group_at)
  return {
    is_plain = false,
    body_at = body_at,
    name = name,
    priority = priority,
    max_attempts = max_attempts,
    max_run_ms = max_run_ms,
    backoff = backoff,
    backoff_ms = backoff_ms,
    backoff_max_ms = backoff_max_ms,
    jitter = jitter,
    group = group,
    id = id,
    unique = unique,
    trace = trace,
    tags = tags,
    result_ttl_ms = result_ttl_ms,
  }
end

-- The flags of a run; see shared/queue/run.
local FLAGS = bits({
  'plain', -- no other flag is set
  'dependency', -- others wait for it, in this queue or elsewhere; see shared/queue/dependencies
  'awaited', -- its end has waiters; see shared/queue/ends
  'stored', -- progress, a log or a history is stored
  'tracked', -- its events are tracked
  'dependent', -- it waits for others, or did
  'apart', -- its payload is stored apart; see `payload_of`
  'owed', -- it is done and kept, and its dependents, past or present, get its result from there; see shared/queue/ends
})

local function has_flag(flags, flag)
  return flags % (flag * 2) >= flag
end

local function with_flag(flags, flag)
  return has_flag(flags, flag) and flags or flags + flag
end

-- The flags of a run plus one.
local function flagged(flags, flag)
  return flags == FLAGS.plain and flag or with_flag(flags, flag)
end

-- The fields of jobs in their hash: the record and the run of each, which are read and removed together.
local function fields_of(numbers)
  local fields = {}
  for at, seq in ipairs(numbers) do
    fields[at * 2 - 1] = seq
    fields[at * 2] = 'r' .. seq
  end
  return fields
end

-- Finds a job by its id.

-- Its number as text, its record and its run (nil: ready, never claimed); nil if there is no such job.
local function find_job(keys, id)
  local seq = string.find(id, '^%d+$') and id or redis.call('HGET', keys.ids, 'i' .. id)
  if not seq then
    return nil
  end
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
  if not stored[1] then
    return nil
  end
  return seq, stored[1], stored[2] and unpack_run(stored[2]) or nil
end

local STATES = {
  r = 'ready',
  b = 'ready',
  w = 'blocked',
  s = 'scheduled',
  c = 'claimed',
  x = 'stopping',
  d = 'dead',
  f = 'done',
}

local function state_of(run)
  return run and STATES[run.state] or 'ready'
end

-- Large payloads. A payload of more than INLINE_BYTES is not stored in the record of its job but under 'b' and its
-- number, and the run of the job says so: most calls need only the head of a job, and one call cannot read a hundred
-- payloads of 4 MiB. Such a job has a run from the beginning, because only the run knows its bytes.

-- The fields that hold the record of a job, its bytes, and the flags of its run.
local function record_fields(queue, seq, head, payload)
  if #payload <= INLINE_BYTES then
    return { seq, head .. payload }, #head + #payload, 0
  end
  set_mark(queue, MARKS.bodies)
  queue.stands_apart = true
  return { seq, head, 'b' .. seq, payload }, #head + #payload, FLAGS.apart
end

local function add_run(fields, seq, run)
  fields[#fields + 1] = 'r' .. seq
  fields[#fields + 1] = run
end

local function size_of(record, run)
  return run and run.size or #record
end

-- The payload of a job. `flags`: those of its run, 0 without a run.
local function payload_of(jobs, seq, record, body_at, flags)
  if has_flag(flags, FLAGS.apart) then
    return redis.call('HGET', jobs, 'b' .. seq)
  end
  return string.sub(record, body_at)
end

-- Sets a flag in the run of a job: data that is stored of it, or a party to notify. A job that was never claimed gets a
-- run. Returns the run.
local function flag_job(jobs, queue, seq, record, run, flag)
  if run and has_flag(run.flags, flag) then
    return run
  elseif not run then
    local name = read_job(record, queue.usual).name
    local at_ms = math.floor(seq / 1000)
    run = { state = 'r', token = 0, attempts = 0, at_ms = at_ms, size = #record, flags = 0, name = name }
  end
  run.flags = flagged(run.flags, flag)
  store_run(jobs, seq, run, run.state, run.at_ms)
  return run
end

-- Undoes `flag_job`; the flag is set. Changes the run.
local function unflag_job(jobs, seq, run, flag)
  run.flags = run.flags - flag
  store_run(jobs, seq, run, run.state, run.at_ms)
end

-- The log of a job, in the hash of jobs under 'l' and its number: its newest lines, each after its time.
local MOST_LINES = 100
local MOST_LINE_BYTES = 1024

-- Cuts no character in half at the end.
local function add_line(packed, line, at_ms)
  local last = math.min(#line, MOST_LINE_BYTES)
  while last < #line and string.find(line, '^[\128-\191]', last + 1) do
    last = last - 1
  end
  return add_entry(packed, struct.pack('>d', at_ms) .. string.sub(line, 1, last), MOST_LINES, 0)
end

-- Changes the options of a job in its place. Changes its run.
local function rewrite_job(jobs, queue, seq, job, run, record)
  local changed = full_head(job) .. string.sub(record, job.body_at)
  local state = state_of(run)
  local bytes = state == 'stopping' and 'claimed' or state
  local grown = #changed - #record
  redis.call('HSET', jobs, seq, changed)
  queue[bytes] = queue[bytes] + grown
  if run then
    run.size, run.flags = run.size + grown, run.flags == FLAGS.plain and 0 or run.flags
    store_run(jobs, seq, run, run.state, run.at_ms)
  end
end

-- A page of jobs.
local READ_AT_ONCE = 100

-- Reports the wanted ones of the jobs with these numbers, until the call's budget is used up. Returns how many it
-- looked at.
local function report_page(reported, jobs, numbers, usual, is_wanted)
  local budget = budget_of(#numbers)
  for from = 1, #numbers, READ_AT_ONCE do
    local some = { unpack(numbers, from, math.min(from + READ_AT_ONCE - 1, #numbers)) }
    local stored = redis.call('HMGET', jobs, unpack(fields_of(some)))
    for at, seq in ipairs(some) do
      local record, packed = stored[at * 2 - 1], stored[at * 2]
      local run = packed and unpack_run(packed)
      if record and is_wanted(seq, record, run) then
        spend(budget, 1, report_job(reported, jobs, seq, record, run, usual))
        if not is_left(budget) then
          return from + at - 1
        end
      end
    end
  end
  return #numbers
end

-- Appends all data of a job to a list. Returns its bytes there.
local function report_job(reported, jobs, seq, record, run, usual)
  local job = read_job(record, usual)
  local more = redis.call('HMGET', jobs, 'e' .. seq, 'p' .. seq, 'o' .. seq)
  local failed_at_ms, kind, message = 0, '', ''
  if more[1] then
    failed_at_ms, kind, message = unpack_failure(more[1])
  end
  local parts = {
    tonumber(seq),
    job.id == '' and seq or job.id,
    job.name,
    state_of(run),
    run and run.attempts or 0,
    run and run.token or 0,
    run and run.at_ms or math.floor(seq / 1000),
    job.priority,
    job.max_attempts,
    job.max_run_ms,
    job.group,
    string.sub(job.unique, 2),
    job.trace,
    job.tags,
    size_of(record, run),
    payload_of(jobs, seq, record, job.body_at, run and run.flags or 0),
    failed_at_ms,
    kind,
    message,
    more[2] or '',
    more[3],
    run and has_flag(run.flags, FLAGS.tracked) and 1 or 0,
  }
  for _, part in ipairs(parts) do
    reported[#reported + 1] = part
  end
  return size_of(record, run) + #message + #(more[2] or '') + #(more[3] or '')
end

-- The options of a claimed job, reported next to it by its place.

local function report_options(options, place, seq, job)
  options[#options + 1] = place
  options[#options + 1] = job.id == '' and seq or job.id
  options[#options + 1] = job.priority
  options[#options + 1] = job.max_attempts
  options[#options + 1] = job.max_run_ms
  options[#options + 1] = job.group
  options[#options + 1] = job.trace
  options[#options + 1] = job.tags
end

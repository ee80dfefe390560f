-- A job, as it is stored under its number in the hash of jobs: a head and the payload, which no script reads.
-- The head of a plain job, one with no option but its name, is the length of the name, a byte, and the name; of one with
-- the queue's `usual` name it is one byte that says so. Any other head begins with '\0', and has all the options; see
-- full_head.
--
-- The number of a job is the server's microsecond at which it was enqueued, or one more than that of the job
-- before it; `id` is what its user calls it, and empty where that is the number.

-- What a plain job has, and an option that is not named.
local MAX_ATTEMPTS = 3
local BACKOFF, BACKOFF_MS, BACKOFF_MAX_MS, JITTER = 3, 1000, 3600000, 20

-- `backoff`: 0: none, 1: fixed, 2: linear, 3: exponential; `jitter` in percent; `unique`: the key that holds others off,
-- behind a letter that says until when; `tags` are separated by '\0'; `keep_result_ms`:
-- how long its end is kept for those who ask, 0: not at all.
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
    job.keep_result_ms
  )
end

-- The job of a record. Its payload begins at `body_at`.
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
      keep_result_ms = 0,
    }
  end
  local _, name, priority, max_attempts, max_run_ms, backoff_at = struct.unpack('>BHc0i4HI4', record)
  local backoff, backoff_ms, backoff_max_ms, jitter, group_at = struct.unpack('>BI4I4B', record, backoff_at)
  local group, id, unique, trace, tags, keep_result_ms, body_at =
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
    keep_result_ms = keep_result_ms,
  }
end

-- The run of a job, stored in the hash of jobs under 'r' and its number. A job without it is ready and was never
-- claimed.
--   state      r ready, b ready again because its lease ended, w waits for others, s scheduled, c claimed, x cancelled while
--              claimed, d dead, f done (finished)
--   token      of its newest attempt; 0: none yet
--   attempts   how often it was claimed
--   at_ms      since when it is ready, until when scheduled, when it was claimed or ended
--   size       bytes of its record
--   flags      FLAGS.plain: a plain job (see shared/queue/job) with no other data than its record, its run and, after
--              a second claim, its failure; otherwise which data is stored of it, and which parties to notify
--   name       the name for statistics

local RUN = '>c1dHdI4Bc0'

-- The present run of a continuing job; other fields are as its run says.
local function pack_run(run, state, at_ms)
  return struct.pack(RUN, state, run.token, run.attempts, at_ms, run.size, run.flags, run.name)
end

-- The run of a job that was never claimed.
local function pack_new_run(state, at_ms, size, flags, name)
  return struct.pack(RUN, state, 0, 0, at_ms, size, flags, name)
end

-- The run of a job that is claimed now.
local function pack_claimed_run(token, attempts, now_ms, size, flags, name)
  return struct.pack(RUN, 'c', token, attempts, now_ms, size, flags, name)
end

local function store_run(jobs, seq, run, state, at_ms)
  redis.call('HSET', jobs, 'r' .. seq, pack_run(run, state, at_ms))
end

local function unpack_run(packed)
  local state, token, attempts, at_ms, size, flags, name_at = struct.unpack('>c1dHdI4B', packed)
  return {
    state = state,
    token = token,
    attempts = attempts,
    at_ms = at_ms,
    size = size,
    flags = flags,
    name = string.sub(packed, name_at),
  }
end

-- Why an attempt has lost its job, or nil if it has not: its lease may be over, but it holds the job until that is
-- reclaimed.
local function why_not(run, token)
  if not run then
    return 'absent'
  elseif run.token ~= token then
    return 'lost'
  elseif run.state == 'c' then
    return nil
  elseif run.state == 'x' then
    return 'cancelled'
  elseif run.state == 'd' then
    return 'dead'
  elseif run.state == 'f' then
    return 'acked'
  end
  return run.state == 'b' and 'lost' or 'retried'
end

-- The newest failure of a job, in the hash of jobs under 'e' and its number: when, of what kind, and its message.

local function pack_failure(at_ms, failure)
  return struct.pack('>dHc0', at_ms, #failure.kind, failure.kind) .. failure.message
end

local function unpack_failure(packed)
  local at_ms, kind, message_at = struct.unpack('>dHc0', packed)
  return at_ms, kind, string.sub(packed, message_at)
end

-- The kept end of a job: in the hash of results under 'v' and the user's id how it ended, and under 'u' and the id
-- until when.
local function pack_result(result, now_ms)
  return struct.pack(
    '>c1ddHc0I4',
    result.state,
    tonumber(result.seq),
    now_ms,
    #result.kind,
    result.kind,
    #result.message
  ) .. result.message .. result.result
end

local function unpack_result(packed)
  local state, number, at_ms, kind, length, message_at = struct.unpack('>c1ddHc0I4', packed)
  return {
    state = state,
    number = number,
    at_ms = at_ms,
    kind = kind,
    message = string.sub(packed, message_at, message_at + length - 1),
    result = string.sub(packed, message_at + length),
  }
end

-- The history of a job costs nothing as long as it is enqueued, claimed and acked: its number says when it was
-- enqueued, its run when it was claimed last. All else is noted, in the hash of jobs under 'h' and its number: the
-- first entry and the newest 99. An entry is the event, its time, its attempt and token, when that was claimed, and the
-- kind of the failure.
--   what  t retried, l reclaimed (lost), g released, b dead, q requeued, x to stop, f acked (finished)
local MOST_HISTORY = 100

-- Notes such an entry, with the other fields from the run. Changes the flags of the run, which the caller writes.
local function note_history(jobs, seq, run, entry)
  local stored = has_flag(run.flags, FLAGS.stored) and redis.call('HGET', jobs, 'h' .. seq)
  local packed = struct.pack('>c1dHdd', entry.what, entry.at_ms, run.attempts, run.token, entry.claimed_ms)
  redis.call('HSET', jobs, 'h' .. seq, add_entry(stored, packed .. entry.kind, MOST_HISTORY, 1))
  run.flags = flagged(run.flags, FLAGS.stored)
end

-- Notes when a recurrence runs next, so that a worker comes to spawn it.
local function note_run(idle, queue, recurrence)
  if recurrence.next_ms > 0 then
    note_due(queue, recurrence.next_ms)
    see_to(idle, queue, recurrence.next_ms)
  end
end

-- Stores the last failure of a job; see `pack_failure`.
local function note_failure(jobs, seq, at_ms, failure)
  redis.call('HSET', jobs, 'e' .. seq, pack_failure(at_ms, failure))
end

-- When a job is tried again, and how it waits until then.

-- Milliseconds until its next attempt, by its own backoff. The jitter subtracts a part, so that jobs that failed
-- together do not all come back together; see Marc Brooker, "Exponential Backoff And Jitter", 2015.
local function backoff_of(job, run)
  local delay_ms = 0
  if job.backoff == 1 then
    delay_ms = job.backoff_ms
  elseif job.backoff == 2 then
    delay_ms = job.backoff_ms * run.attempts
  elseif job.backoff == 3 then
    delay_ms = job.backoff_ms * 2 ^ math.min(run.attempts - 1, 40)
  end
  if job.backoff_max_ms > 0 then
    delay_ms = math.min(delay_ms, job.backoff_max_ms)
  end
  -- Random enough: the lower digits of a token are microseconds. Only those, because a greater product is not exact.
  local chance = run.token % 1000 * 7919 % 1000 / 1000
  return math.floor(delay_ms * (1 - job.jitter / 100 * chance))
end

-- A job that was claimed waits again, until it is due.
local function wait_again(keys, queue, seq, job, run, due_ms)
  local state = 's'
  if due_ms <= queue.now_ms then
    state = place_ready(keys, queue, job, seq, run.size, 'r')
  else
    queue.scheduled = queue.scheduled + run.size
    redis.call('ZADD', keys.scheduled, string.format('%.0f', due_ms), seq)
    note_due(queue, due_ms)
  end
  store_run(keys.jobs, seq, run, state, due_ms)
end

-- Makes a job ready that has left its state, as if it had never been claimed, except that its token stays so that
-- tokens of its attempts rise. Its last failure stays too.
local function begin_again(keys, queue, seq, job, run)
  if run.state == 'f' then
    if has_flag(run.flags, FLAGS.owed) then
      keep_end(keys, queue, seq, job, run)
    end
    local claimed_ms = math.floor(run.token / 1000)
    note_history(keys.jobs, seq, run, { what = 'f', at_ms = run.at_ms, claimed_ms = claimed_ms, kind = '' })
  end
  if redis.call('HEXISTS', keys.results, 'v' .. (job.id == '' and seq or job.id)) == 1 then
    -- Its old end is kept for waiters: so its next end is kept as well, otherwise they would get the outdated one.
    run.flags = flagged(run.flags, FLAGS.awaited)
  end
  happened(queue, 'requeued', seq, job, run, '')
  note_history(keys.jobs, seq, run, { what = 'q', at_ms = queue.now_ms, claimed_ms = 0, kind = '' })
  local state = place_ready(keys, queue, job, seq, run.size, 'r')
  run.attempts = 0
  store_run(keys.jobs, seq, run, state, queue.now_ms)
  redis.call('HDEL', keys.jobs, 'o' .. seq)
end

-- Reports the history of a job; see `note_history`.
local HAPPENED = {
  t = 'retried',
  l = 'reclaimed',
  g = 'released',
  b = 'dead',
  q = 'requeued',
  x = 'stopping',
  f = 'acked',
}

local function report_one(reported, what, at_ms, attempt, token, kind)
  local at = #reported
  reported[at + 1], reported[at + 2], reported[at + 3], reported[at + 4], reported[at + 5] =
    what, at_ms, attempt, token, kind
end

-- Reports the newest attempt from the run, if no entry has it.
local function report_newest(reported, run, last)
  if run.state == 'f' then
    -- A token is the server's microsecond of the claim, or a little more.
    report_one(reported, 'claimed', math.floor(run.token / 1000), run.attempts, run.token, '')
    report_one(reported, 'acked', run.at_ms, run.attempts, run.token, '')
  elseif (run.state == 'c' or run.state == 'x') and run.token ~= last then
    report_one(reported, 'claimed', run.at_ms, run.attempts, run.token, '')
  end
end

-- A flat list of event, time, attempt, token and kind, and how many are missing after the first noted one.
local function report_history(jobs, seq, run)
  local reported, last = {}, 0
  report_one(reported, 'enqueued', math.floor(seq / 1000), 0, 0, '')
  local entries, omitted = list_entries(redis.call('HGET', jobs, 'h' .. seq))
  for _, entry in ipairs(entries) do
    local what, at_ms, attempt, token, claimed_ms, kind_at = struct.unpack('>c1dHdd', entry)
    if what ~= 'q' and token ~= last then
      report_one(reported, 'claimed', claimed_ms, attempt, token, '')
      last = token
    end
    report_one(reported, HAPPENED[what], at_ms, attempt, token, string.sub(entry, kind_at))
  end
  if run then
    report_newest(reported, run, last)
  end
  return reported, omitted
end

-- Appends the lines of a job's log to a list: the place of the job, time, and text; see shared/queue/job. Returns its
-- bytes.
local function report_log(reported, jobs, seq, place)
  local packed = redis.call('HGET', jobs, 'l' .. seq)
  for _, entry in ipairs((list_entries(packed))) do
    local at_ms, line_at = struct.unpack('>d', entry)
    reported[#reported + 1] = place
    reported[#reported + 1] = at_ms
    reported[#reported + 1] = string.sub(entry, line_at)
  end
  return packed and #packed or 0
end

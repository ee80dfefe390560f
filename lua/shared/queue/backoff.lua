-- When a job is tried again, and how it waits until then.

-- Milliseconds until its next attempt, by its own backoff. The jitter takes away a part, so that jobs that failed
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
  -- Chance enough: the lower digits of a token are microseconds. Those alone, for a greater product is not exact.
  local chance = run.token % 1000 * 7919 % 1000 / 1000
  return math.floor(delay_ms * (1 - job.jitter / 100 * chance))
end

-- A job that was claimed waits again, until it is due.
local function wait_again(keys, queue, seq, job, run, due_ms, now_us)
  local state = 's'
  if due_ms <= math.floor(now_us / 1000) then
    state = place_ready(keys, queue, job, seq, run.size, 'r', now_us)
  else
    queue.scheduled = queue.scheduled + run.size
    redis.call('ZADD', keys.scheduled, string.format('%.0f', due_ms), seq)
    note_due(queue, due_ms)
  end
  redis.call(
    'HSET',
    keys.jobs,
    'r' .. seq,
    pack_run(state, run.token, run.attempts, due_ms, run.size, run.flags, run.name)
  )
end

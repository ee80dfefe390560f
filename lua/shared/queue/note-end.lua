-- The end of a job that somebody waits for, or that is kept for those who ask. Those who wait stand in the hash of jobs under
-- 'w' and its number, their names behind each other, and its run says so. They are told when the call is over; see
-- shared/queue/tell-others.
local KEPT_FOR_WAITERS_MS = 60000

-- `state`: f done, d dead, x cancelled. Changes the flags of the run, which the caller writes where there still is one.
local function note_end(queue, jobs, seq, job, run, state, kind, message, result)
  local is_awaited = run and has_flag(run.flags, AWAITED)
  if not is_awaited and job.keep_result_ms == 0 then
    return
  end
  local waiters, keep_ms = '', job.keep_result_ms
  if is_awaited then
    waiters = redis.call('HGET', jobs, 'w' .. seq) or ''
    redis.call('HDEL', jobs, 'w' .. seq)
    run.flags = run.flags - AWAITED
    keep_ms = math.max(keep_ms, KEPT_FOR_WAITERS_MS)
  end
  queue.ends = queue.ends or {}
  queue.ends[#queue.ends + 1] = {
    id = job.id == '' and seq or job.id,
    seq = seq,
    state = state,
    kind = kind,
    message = message,
    result = result,
    keep_ms = keep_ms,
    waiters = waiters,
  }
end

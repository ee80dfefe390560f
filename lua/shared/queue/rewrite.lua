-- Other options for a job, in the place where it stands. `state`: as in find.
local function rewrite_job(jobs, queue, seq, job, run, record, state)
  local changed = full_head(job) .. string.sub(record, job.body_at)
  local bytes = state == 'stopping' and 'claimed' or state
  local grown = #changed - #record
  redis.call('HSET', jobs, seq, changed)
  queue[bytes] = queue[bytes] + grown
  if run then
    local flags = run.flags == PLAIN and 0 or run.flags
    redis.call(
      'HSET',
      jobs,
      'r' .. seq,
      pack_run(run.state, run.token, run.attempts, run.at_ms, run.size + grown, flags, run.name)
    )
  end
end

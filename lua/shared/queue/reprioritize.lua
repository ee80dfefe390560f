-- Another priority for a job that stands nowhere, or where priorities do not count.
local function change_priority(jobs, queue, seq, job, run, record, priority, state)
  job.priority = priority
  local changed = full_head(job) .. string.sub(record, job.body_at)
  redis.call('HSET', jobs, seq, changed)
  queue[state] = queue[state] + #changed - #record
  if run then
    redis.call(
      'HSET',
      jobs,
      'r' .. seq,
      pack_run(
        run.state,
        run.token,
        run.attempts,
        run.at_ms,
        #changed,
        run.flags == 1 and 0 or run.flags,
        run.name
      )
    )
  end
end

-- Takes back what shared/queue/flag-job says; the run says it.
local function unflag_job(jobs, seq, run, flag)
  local flags = run.flags - flag
  redis.call(
    'HSET',
    jobs,
    'r' .. seq,
    pack_run(run.state, run.token, run.attempts, run.at_ms, run.size, flags, run.name)
  )
end

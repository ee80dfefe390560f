-- Says in the run of a job what is stored of it, or who is to be told. One that was never claimed has no run before. Answers
-- the run.
local function flag_job(jobs, queue, seq, record, run, flag)
  if run and has_flag(run.flags, flag) then
    return run
  elseif not run then
    local name = read_job(record, queue.usual).name
    local at_ms = math.floor(seq / 1000)
    run = { state = 'r', token = 0, attempts = 0, at_ms = at_ms, size = #record, flags = 0, name = name }
  end
  run.flags = flagged(run.flags, flag)
  redis.call(
    'HSET',
    jobs,
    'r' .. seq,
    pack_run(run.state, run.token, run.attempts, run.at_ms, run.size, run.flags, run.name)
  )
  return run
end

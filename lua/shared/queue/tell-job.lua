-- Everything that is known of a job, appended to a list. Answers its bytes there.
local function tell_job(told, jobs, seq, record, run, usual)
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
    run and has_flag(run.flags, TRACKED) and 1 or 0,
  }
  for _, part in ipairs(parts) do
    told[#told + 1] = part
  end
  return size_of(record, run) + #message + #(more[2] or '') + #(more[3] or '')
end

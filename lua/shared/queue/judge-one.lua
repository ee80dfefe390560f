-- One claimed job: its record and its run, or nil, nil and why the attempt has no say over it any more.
local function judge_job(jobs, seq, token)
  local stored = redis.call('HMGET', jobs, seq, 'r' .. seq)
  local run = stored[2] and unpack_run(stored[2])
  local why = why_not(run, token)
  if why then
    return nil, nil, why
  end
  return stored[1], run
end

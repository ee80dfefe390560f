-- Why an attempt has no say over its job any more, or nil where it has.
local function judge_claim(jobs, seq, token)
  local packed = redis.call('HGET', jobs, 'r' .. seq)
  return why_not(packed and unpack_run(packed), token)
end

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

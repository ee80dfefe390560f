-- Finding a job by its id.

-- Its number as text, its record and its run (nil: ready, never claimed); nil where there is no such job.
local function find_job(jobs, ids, id)
  local seq = string.find(id, '^%d+$') and id or redis.call('HGET', ids, 'i' .. id)
  if not seq then
    return nil
  end
  local stored = redis.call('HMGET', jobs, seq, 'r' .. seq)
  if not stored[1] then
    return nil
  end
  return seq, stored[1], stored[2] and unpack_run(stored[2]) or nil
end

local STATES = {
  r = 'ready',
  b = 'ready',
  w = 'blocked',
  s = 'scheduled',
  c = 'claimed',
  x = 'stopping',
  d = 'dead',
  f = 'done',
}

local function state_of(run)
  return run and STATES[run.state] or 'ready'
end

-- Those who wait for the end of a job; see shared/queue/note-end.
local MOST_WAITERS = 100

local function waiters_of(jobs, seq)
  local names = {}
  for name in string.gmatch(redis.call('HGET', jobs, 'w' .. seq) or '', '%S+') do
    names[#names + 1] = name
  end
  return names
end

local function enter_waiters(jobs, seq, waiter)
  local names = waiters_of(jobs, seq)
  for _, name in ipairs(names) do
    if name == waiter then
      return
    end
  end
  if #names >= MOST_WAITERS then
    table.remove(names, 1)
  end
  names[#names + 1] = waiter
  redis.call('HSET', jobs, 'w' .. seq, table.concat(names, ' '))
end

-- Its run goes on to say that somebody waits, which does no harm.
local function leave_waiters(jobs, seq, waiter)
  if not seq then
    return
  end
  local left = {}
  for _, name in ipairs(waiters_of(jobs, seq)) do
    if name ~= waiter then
      left[#left + 1] = name
    end
  end
  if #left == 0 then
    redis.call('HDEL', jobs, 'w' .. seq)
  else
    redis.call('HSET', jobs, 'w' .. seq, table.concat(left, ' '))
  end
end

-- The end that is kept of a job, or nil.
local function kept_result(results, id, now_ms)
  local stored = redis.call('HMGET', results, 'v' .. id, 'u' .. id)
  if not stored[1] or tonumber(stored[2]) <= now_ms then
    return nil
  end
  return unpack_result(stored[1])
end

-- The end of a job that is dead or kept, or nil.
local function result_of(jobs, seq, run)
  if run and run.state == 'f' then
    local result = redis.call('HGET', jobs, 'o' .. seq) or ''
    return { state = 'f', at_ms = run.at_ms, kind = '', message = '', result = result }
  elseif run and run.state == 'd' then
    local at_ms, kind, message = unpack_failure(redis.call('HGET', jobs, 'e' .. seq))
    return { state = 'd', at_ms = at_ms, kind = kind, message = message, result = '' }
  end
  return nil
end

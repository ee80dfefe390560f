-- Sees to what the time has brought: leases that ended, jobs that are due, parents to ask after, and runs that recur.
-- About as many jobs become ready as are `wanted`, for others wait meanwhile.

-- Whether the user may do all that is done to one of them: each is seen to as a whole. The commands, each once on nothing.
local function may_bring_due(keys, meta, queue)
  local tried = {
    redis.pcall('HDEL', keys.jobs, ''),
    redis.pcall('ZREM', keys.leases, ''),
    redis.pcall('ZADD', keys.leases, 'XX', '0', ''),
    redis.pcall('HSET', meta, 'codec', queue.codec),
    redis.pcall('HEXISTS', keys.jobs, ''),
    redis.pcall('ZCARD', keys.held),
    redis.pcall('EXISTS', keys.short),
    redis.pcall('LLEN', keys.turns),
  }
  local read = {
    redis.pcall('ZRANGE', keys.held, '1', '0'),
    redis.pcall('ZRANGEBYSCORE', keys.held, '+inf', '-inf'),
    redis.pcall('ZRANGEBYLEX', keys.children, '+', '-'),
    redis.pcall('LRANGE', keys.turns, '1', '0'),
  }
  for _, each in ipairs(tried) do
    if type(each) ~= 'number' then
      return false
    end
  end
  for _, each in ipairs(read) do
    if each.err then
      return false
    end
  end
  local popped = redis.pcall('LPOP', keys.turns, '0')
  return not (popped and popped.err)
    and not redis.pcall('HGET', keys.jobs, '')
    and not redis.pcall('ZSCORE', keys.held, '')
end

-- Without a right to it nothing of that is seen to, and the next call looks again.
local function bring_due(keys, meta, queue, settings, now_us, wanted)
  if not may_bring_due(keys, meta, queue) then
    queue.is_refused = true
    return
  end
  local now_ms = math.floor(now_us / 1000)
  reclaim_lost(keys, queue, now_us, 100)
  show_due(keys, queue, now_us, math.max(20, math.min(wanted, 100)))
  if queue.is_behind then
    catch_up(keys, queue, settings, now_us)
  end
  if is_marked(queue, DEPENDENCIES) then
    note_parents_due(keys, queue, now_ms)
  end
  if is_marked(queue, RECURRENCES) and not settings.paused then
    spawn_due(keys, queue, now_us, 100)
  end
  queue.due_ms = look_again(queue, next_due_ms(keys, queue, settings, now_ms) or NEVER_MS, now_ms)
end

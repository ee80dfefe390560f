-- Values that need not stay: `clean` names those of which no increment is pending or sealed, by the time until
-- which they stay. What is not clean is not in it, and so is never evicted.

-- Values that one call evicts at most.
local MOST_EVICTED = 1000

-- A server without memory that refuses the entry has no room for the value either.
local function keep_clean(values, clean, id, until_ms)
  local added = redis.pcall('ZADD', clean, exact(until_ms), id)
  if type(added) == 'table' then
    redis.call('HDEL', values, id)
  end
end

-- Evicts what is due. Answers how many those are.
local function evict_due(values, clean, now_ms)
  local due = redis.call('ZRANGEBYSCORE', clean, '-inf', exact(now_ms), 'LIMIT', '0', exact(MOST_EVICTED))
  if #due > 0 then
    redis.call('HDEL', values, unpack(due))
    redis.call('ZREM', clean, unpack(due))
  end
  return #due
end

-- A partition without any increment to flush vanishes by itself, when the last of its values is due.
local function let_vanish(partition, values, clean, retain_ms)
  if retain_ms > 0 and partition.pending_ms == 0 and partition.rest_ms == 0 and partition.batch == '' then
    redis.call('PEXPIRE', values, exact(retain_ms))
    redis.call('PEXPIRE', clean, exact(retain_ms))
  end
end

-- Before the first increment of a partition that was to vanish.
local function let_stay(values, clean)
  redis.call('PERSIST', values)
  redis.call('PERSIST', clean)
end

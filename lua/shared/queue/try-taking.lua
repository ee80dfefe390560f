-- What is done to places of priorities and groups before, or behind, the jobs are leased: each command once on nothing. Answers whether
-- those of groups were tried.
local function try_taking(keys, queue, acks_first)
  redis.call('ZREM', keys.leases, '')
  redis.call('ZADD', keys.leases, 'XX', '0', '')
  if acks_first then
    redis.call('ZRANGEBYSCORE', keys.leases, '+inf', '-inf')
    redis.call('LRANGE', keys.turns, '1', '0')
  end
  if is_marked(queue, GROUPS) then
    redis.call('HDEL', keys.groups, '')
    redis.call('HGET', keys.groups, '')
    redis.call('LPOP', keys.turns, '0')
  end
  if acks_first and is_marked(queue, GROUPS) then
    redis.call('LLEN', keys.turns)
  end
  return is_marked(queue, GROUPS)
end

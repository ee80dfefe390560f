-- The commands that a call meets in its middle, each once on nothing: where the right to one of them is missing, the call is refused
-- before it has changed anything. What frees comes first, so that a server out of memory goes on; a call that such a server is to
-- refuse asks before.

local function refuse_when_full(keys)
  redis.call('ZADD', keys.parents, 'XX', '0', '')
end

local function try_rights(meta, queue, keys)
  redis.call('HDEL', keys.jobs, '')
  redis.call('ZREM', keys.parents, '')
  redis.call('ZADD', keys.parents, 'XX', '0', '')
  redis.call('HGET', keys.jobs, '')
  redis.call('HEXISTS', keys.jobs, '')
  redis.call('ZSCORE', keys.parents, '')
  redis.call('ZRANGEBYSCORE', keys.parents, '+inf', '-inf')
  redis.call('ZRANGEBYLEX', keys.children, '+', '-')
  if queue.began_us > 0 then
    redis.call('HSET', meta, 'codec', queue.codec)
  end
end

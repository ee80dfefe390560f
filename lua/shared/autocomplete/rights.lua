-- The commands that a call meets in its middle, each once on nothing: where the right to one of them is missing, the call is refused
-- before it has changed anything. An index that is changed in part could not be searched any more. What frees comes first, so that a
-- server out of memory goes on; a call that may add has written before.
local function try_rights(meta, index, keys)
  redis.call('HDEL', meta, '')
  redis.call('ZREM', keys.words, '')
  redis.call('ZADD', keys.words, 'XX', '0', '')
  redis.call('ZLEXCOUNT', keys.words, '+', '-')
  redis.call('ZRANGEBYLEX', keys.words, '+', '-')
  redis.call('ZREVRANGEBYLEX', keys.words, '-', '+')
  redis.call('ZRANGEBYSCORE', keys.expiry, '+inf', '-inf')
  if not index.is_new then
    redis.call('HSET', meta, 'layout', INDEX_LAYOUT)
  end
end

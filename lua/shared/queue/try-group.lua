-- What comes behind the first write where a group is set, each command once on nothing; see shared/queue/rights. `grows`: a server out
-- of memory refuses it here.
local function try_group(meta, queue, keys, grows)
  if grows then
    redis.call('ZADD', keys.held, 'XX', '0', '')
  end
  redis.call('LREM', keys.turns, '0', '')
  redis.call('ZREM', keys.held, '')
  redis.call('ZADD', keys.held, 'XX', '0', '')
  redis.call('HDEL', keys.groups, '')
  if queue.began_us > 0 then
    redis.call('HSET', meta, 'codec', queue.codec)
  end
end

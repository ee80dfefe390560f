-- Takes messages that are still delayed away.
local function unpark(delayed, parked, bodies, ids, has_large)
  redis.call('ZREM', delayed, unpack(ids))
  redis.call('HDEL', parked, unpack(ids))
  if has_large then
    redis.call('HDEL', bodies, unpack(ids))
  end
end

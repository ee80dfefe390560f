local MAX_REMOVED = 1000

-- How many of them there were.
local function take_out(items, kind, parts, from)
  if from > #parts then
    return 0
  elseif kind == 'set' then
    return redis.call('SREM', items, unpack(parts, from))
  elseif kind == 'hash' then
    return redis.call('HDEL', items, unpack(parts, from))
  end
  return redis.call('ZREM', items, unpack(parts, from))
end

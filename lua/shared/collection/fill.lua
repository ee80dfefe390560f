local MAX_PARTS = 2000

-- How many of the items are new; of a list, how many it has now.
local function fill(items, kind, parts, from)
  if from > #parts then
    return 0
  elseif kind == 'list' then
    return redis.call('RPUSH', items, unpack(parts, from))
  elseif kind == 'set' then
    return redis.call('SADD', items, unpack(parts, from))
  elseif kind == 'hash' then
    return redis.call('HSET', items, unpack(parts, from))
  end
  return redis.call('ZADD', items, unpack(parts, from))
end

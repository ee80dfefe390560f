-- Moves what is pending, all of it if it is not too much, into the sealed batch, which is empty before.
local function fill_batch(pending, sealed, limit)
  if redis.call('HLEN', pending) <= limit then
    redis.call('RENAME', pending, sealed)
    return
  end
  local some = redis.call('HRANDFIELD', pending, exact(limit), 'WITHVALUES')
  local ids = {}
  for at = 1, #some, 2 do
    ids[#ids + 1] = some[at]
  end
  redis.call('HSET', sealed, unpack(some))
  redis.call('HDEL', pending, unpack(ids))
end

-- Moves what was set aside, all of it if it is not too much, into the sealed batch, which is empty before.
local function fill_batch(rest, sealed, limit)
  if redis.call('HLEN', rest) <= limit then
    redis.call('RENAME', rest, sealed)
    return
  end
  local some = redis.call('HRANDFIELD', rest, exact(limit), 'WITHVALUES')
  local ids = {}
  for at = 1, #some, 2 do
    ids[#ids + 1] = some[at]
  end
  redis.call('HSET', sealed, unpack(some))
  redis.call('HDEL', rest, unpack(ids))
end

-- How many counters have increments that are not known to be in SQL. What is set aside is neither pending nor sealed, but what is
-- sealed may have come again.
local function dirty(pending, rest, sealed)
  local count = redis.call('HLEN', pending) + redis.call('HLEN', rest)
  for _, id in ipairs(redis.call('HKEYS', sealed)) do
    count = count + 1 - redis.call('HEXISTS', pending, id)
  end
  return count
end

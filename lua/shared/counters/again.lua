-- How many counters of the sealed batch are pending again.
local function count_again(pending, sealed)
  local ids = redis.call('HKEYS', sealed)
  if #ids == 0 then
    return 0
  end
  local count = 0
  for _, delta in ipairs(redis.call('HMGET', pending, unpack(ids))) do
    count = count + (delta and 1 or 0)
  end
  return count
end

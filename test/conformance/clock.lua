-- Takes the place of shared/clock in tests: a clock that stands where the test put it. Its key shares
-- the hash tag of the call's keys, so it works on a cluster too. Without that key it tells the real time.
local function clock_us()
  local set = redis.call('GET', string.match(KEYS[1], '^.-}') .. ':clock')
  if set then
    return tonumber(set)
  end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

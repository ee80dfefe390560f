-- The only reader of the server's time: microseconds since 1970.
-- Read once per call and passed on, because two readings in one script may differ.
local function clock_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- The burst of a rate, where one is set: '<rate_limit>,<rate_window_ms>,<burst>', in a field of its own, for processes of older
-- releases know none. So it is of the rate that it was set with, and not of one that those have set since. Those of groups
-- stand in the hash of groups, each behind a byte with which no name begins; that byte alone has how many there are.
local GROUP_BURST = '\255'

-- 0: as many as the rate allows in a window.
local function read_burst(hash, field, rate)
  local stored = redis.call('HGET', hash, field)
  local limit, window_ms, burst = string.match(stored or '', '^(%d+),(%d+),(%d+)$')
  local is_of_rate = tonumber(limit) == rate.rate_limit and tonumber(window_ms) == rate.rate_window_ms
  return is_of_rate and tonumber(burst) or 0
end

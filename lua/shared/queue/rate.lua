-- A rate, as the generic cell rate algorithm of shared/rate-limit/gcra: `limit` starts in a window, all of them
-- at once if they were saved up. Jobs start when the theoretical arrival time is at most a window ahead.

-- How many may start now.
local function starts_left(arrival_us, limit, window_ms, now_us)
  local window_us = window_ms * 1000
  local ahead_us = math.max(0, arrival_us - now_us)
  return math.max(0, math.floor((window_us - ahead_us) * limit / window_us))
end

-- The arrival time after so many starts. Rounded down: a microsecond too many would hold back the last of a window.
local function arrival_after(arrival_us, limit, window_ms, now_us, starts)
  return math.max(arrival_us, now_us) + math.floor(starts * window_ms * 1000 / limit)
end

-- Milliseconds until one more may start.
local function next_start_in_ms(arrival_us, limit, window_ms, now_us)
  local window_us = window_ms * 1000
  return math.max(0, math.ceil((arrival_us - now_us + window_us / limit - window_us) / 1000))
end

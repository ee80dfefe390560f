-- One who waits for its chance only is told to come when the lock becomes free. It leaves the line, and until
-- it has got the lock, or is not heard of any more, nobody else is told: it tries again and again by itself,
-- so that those who pass by need not look at the line.
local CHANCE_MS = 2

local function is_called(called, now_ms)
  return called ~= '0' and tonumber(string.match(called, '^%d+')) > now_ms
end

local function called_id(called)
  return string.match(called, '/(.*)$')
end

local function call_until(now_ms, claim_ms, id)
  return now_ms + claim_ms .. '/' .. id
end

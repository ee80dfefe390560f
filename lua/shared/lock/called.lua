-- One who waits for its chance only is told to come when the lock becomes free. It leaves the line, and until
-- it has got the lock, or is not heard of any more, nobody else is told: it tries again and again by itself,
-- so that those who pass by need not look at the line.

-- Nobody is told to come for longer than this: more is left where the clock has stepped back.
local MOST_CALLED_MS = 60000

local function is_called(called, now_ms)
  if called == '0' then
    return false
  end
  local left_ms = tonumber(string.match(called, '^%d+')) - now_ms
  return left_ms > 0 and left_ms <= MOST_CALLED_MS
end

local function called_id(called)
  return string.match(called, '/(.*)$')
end

local function call_until(now_ms, claim_ms, id)
  return now_ms + claim_ms .. '/' .. id
end

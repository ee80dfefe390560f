-- The key outlives what it counts by at least half of this. So it need not be told each time how long to
-- live, and remembers a call for longer than its caller goes on repeating it.
local KEPT_EXTRA_MS = 20000

-- Sees to it that the key lives so long. Another set of limits may want it for longer.
local function keep_for(state, life_ms)
  if redis.call('PTTL', state) < life_ms then
    redis.call('PEXPIRE', state, string.format('%.0f', life_ms))
  end
end

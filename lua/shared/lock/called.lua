-- One who waits for its chance only is told to come when the lock becomes free, and until it has come, or
-- should have, nobody else is.
local function is_called(called, now_ms)
  return called ~= '0' and tonumber(string.match(called, '^%d+')) > now_ms
end

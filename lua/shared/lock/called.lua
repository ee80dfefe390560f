-- One who waits for its chance only is told to come when the lock becomes free; until it has come, or should
-- have, nobody else is.
local function is_called(called, now_ms)
  return called ~= '0' and tonumber(string.match(called, '^%d+')) > now_ms
end

-- What is left of the call once this attempt is here.
local function answered(called, id)
  return string.match(called, '/(.*)$') == id and '0' or called
end

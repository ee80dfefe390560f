-- The next time of a recurrence by an interval.
local function next_interval(recurrence, after_ms)
  local every_ms, offset_ms = recurrence.every_ms, recurrence.offset_ms
  return (math.floor((after_ms - offset_ms) / every_ms) + 1) * every_ms + offset_ms
end

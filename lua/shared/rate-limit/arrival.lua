-- The theoretical arrival time of gcra; see shared/rate-limit/gcra. Spans are whole microseconds and a rest in
-- `1 / limit` of one.

-- What a unit costs, and how far ahead of now the arrival time may lie.
local function arrival_spans(window_us, limit, burst)
  local unit_rest = window_us % limit
  local unit = (window_us - unit_rest) / limit
  local span_rest = burst * unit_rest % limit
  local span = burst * unit + (burst * unit_rest - span_rest) / limit
  return unit, unit_rest, span, span_rest
end

-- How far ahead of now a stored arrival time lies. It may have been counted for another limit of the same
-- name.
local function ahead_of_now(arrival, arrival_rest, now_us, limit, span, span_rest)
  if arrival < now_us then
    return 0, 0
  end
  local ahead, rest = arrival - now_us, arrival_rest
  if rest >= limit then
    ahead, rest = ahead + 1, 0
  end
  if ahead > span or (ahead == span and rest > span_rest) then
    return span, span_rest
  end
  return ahead, rest
end

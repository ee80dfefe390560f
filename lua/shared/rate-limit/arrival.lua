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

-- How far ahead of now an arrival time lies that was stored with this newest token. It may have been counted for another limit of
-- the same name: then at most all of this one counts, as if it had been taken with that token.
local function ahead_of_now(arrival, arrival_rest, token, now_us, limit, span, span_rest)
  local latest, rest = math.min(token, now_us) + span, arrival_rest
  if rest >= limit then
    arrival, rest = arrival + 1, 0
  end
  if arrival > latest or (arrival == latest and rest > span_rest) then
    arrival, rest = latest, span_rest
  end
  if arrival < now_us then
    return 0, 0
  end
  return arrival - now_us, rest
end

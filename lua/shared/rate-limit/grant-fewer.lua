-- How many takes are granted where not all are, how long until one more is, and how far ahead of now the
-- theoretical arrival time then lies. Tried downwards from one more than there is room for.
local function grant_fewer(ahead, rest, count, cost, limit, window_us, burst)
  local unit, unit_rest, span, span_rest = arrival_spans(window_us, limit, burst)
  local granted, wait_us = count, 0
  while true do
    if granted * cost > burst then
      granted = (burst - burst % cost) / cost + 1
    end
    local next_rest = rest + granted * cost * unit_rest
    local next_ahead = ahead + granted * cost * unit + (next_rest - next_rest % limit) / limit
    next_rest = next_rest % limit
    local over_us = next_ahead - span + (next_rest > span_rest and 1 or 0)
    if over_us <= 0 then
      return granted, wait_us, next_ahead, next_rest
    end
    local room = (span - ahead) * limit + span_rest - rest
    -- Exact while the room times the limit is; beyond that a unit more or less.
    local units = (room - room % window_us) / window_us + 1
    wait_us = over_us
    granted = math.min(granted - 1, (units - units % cost) / cost + 1)
  end
end

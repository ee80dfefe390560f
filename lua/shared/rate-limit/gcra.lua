-- The theoretical arrival time of gcra. Spans are whole microseconds and a rest in
-- `1 / limit` of one.

-- The cost of a unit, and how far ahead of now the arrival time may be.
local function arrival_spans(window_us, limit, burst)
  local unit_rest = window_us % limit
  local unit = (window_us - unit_rest) / limit
  local span_rest = burst * unit_rest % limit
  local span = burst * unit + (burst * unit_rest - span_rest) / limit
  return unit, unit_rest, span, span_rest
end

-- How far a stored arrival time is ahead of now. It may have been counted for another limit of the same name: then at
-- most all units of this one count, as if they had been taken with the newest token. `latest` and `span_rest`: the
-- arrival time in that case, a span after that token, or after now if that is sooner.
local function ahead_of_now(arrival, arrival_rest, latest, span_rest, now_us, limit)
  local rest = arrival_rest
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

-- The generic cell rate algorithm, as virtual scheduling of a theoretical arrival time (ITU-T I.371, annex A). A unit
-- costs `window / limit`; the theoretical arrival time is when all taken units have refilled, and may be at most
-- `burst` units ahead of now. Spans are whole microseconds and a rest in `1 / limit` of one, so that nothing is ever
-- rounded and the bound is exact.
-- Stored: the theoretical arrival time and its rest.

-- The cost of `units`.
local function gcra_cost(meter, units)
  local rest = units * meter.unit_rest
  return units * meter.unit + math.floor(rest / meter.limit), rest % meter.limit
end

-- Sets the taken amount to a span ahead of now.
local function gcra_set(meter, ahead, rest)
  meter.ahead, meter.rest = ahead, rest
  meter.reset_us = ahead + (rest > 0 and 1 or 0)
  -- The quotient may be rounded either way, so exact tries start from one above.
  local free = math.floor((meter.span - ahead) / meter.window_us * meter.limit) + 2
  repeat
    free = free - 1
    local used, used_rest = gcra_cost(meter, free)
    used, used_rest = used + ahead, used_rest + rest
    if used_rest >= meter.limit then
      used, used_rest = used + 1, used_rest - meter.limit
    end
  until free <= 0 or used < meter.span or (used == meter.span and used_rest <= meter.span_rest)
  meter.free = math.max(0, free)
end

local function read_gcra(meter, stored)
  local limit = meter.limit
  local unit, unit_rest, span, span_rest = arrival_spans(meter.window_us, limit, meter.burst)
  meter.unit, meter.unit_rest, meter.span, meter.span_rest = unit, unit_rest, span, span_rest
  if not stored then
    return gcra_set(meter, 0, 0)
  end
  local arrival, arrival_rest = pair_at(stored, 1)
  local latest = math.min(meter.token, meter.now_us) + span
  gcra_set(meter, ahead_of_now(arrival, arrival_rest, latest, span_rest, meter.now_us, limit))
end

-- How far ahead of now the arrival time would be after so many units more.
local function gcra_ahead(meter, units)
  local cost, cost_rest = gcra_cost(meter, units)
  local ahead, rest = meter.ahead + cost, meter.rest + cost_rest
  if rest >= meter.limit then
    return ahead + 1, rest - meter.limit
  end
  return ahead, rest
end

local function wait_for_gcra(meter, units)
  local ahead, rest = gcra_ahead(meter, units)
  return math.max(0, ahead - meter.span + (rest > meter.span_rest and 1 or 0))
end

local function count_gcra(meter, units)
  gcra_set(meter, gcra_ahead(meter, units))
end

-- Refilled units need no time: now would be ahead, and count as taken, if the clock steps back.
local function pack_gcra(meter)
  if meter.ahead == 0 and meter.rest == 0 then
    return pack_pair(0, 0)
  end
  return pack_pair(meter.now_us + meter.ahead, meter.rest)
end

-- A rate, as the generic cell rate algorithm of shared/rate-limit/gcra: `rate_limit` starts flow back in a window, and
-- `rate_burst` of them may be saved up, 0: a window's. Jobs start while the theoretical arrival time is ahead by no more than
-- those take to flow back. It lies further ahead where the clock has stepped back, or the rate was lowered: then all that was
-- saved up is used up, and no more.

-- How far ahead the arrival time may lie, and what a start costs.
local function spans_of(rate)
  local unit_us = rate.rate_window_ms * 1000 / rate.rate_limit
  if rate.rate_burst == 0 then
    return rate.rate_window_ms * 1000, unit_us
  end
  -- Rounding up is not to hold back the last that was saved up.
  local rounded_us = unit_us % 1 > 0 and math.min(rate.rate_burst - 1, math.floor(unit_us)) or 0
  return rate.rate_burst * unit_us + rounded_us, unit_us
end

local function bounded_arrival(arrival_us, rate, now_us)
  local span_us = spans_of(rate)
  return math.min(arrival_us, math.floor(now_us + span_us))
end

-- A rate as it is now, for it is about to change.
local function rate_of(settings)
  return {
    rate_limit = settings.rate_limit,
    rate_window_ms = settings.rate_window_ms,
    rate_burst = settings.rate_burst,
  }
end

-- The arrival time by another rate: as many starts are used up as by the one before.
local function arrival_by(rate, arrival_us, before, now_us)
  local is_same = rate.rate_limit == before.rate_limit and rate.rate_window_ms == before.rate_window_ms
  if is_same or rate.rate_limit == 0 or before.rate_limit == 0 or arrival_us <= now_us then
    return arrival_us
  end
  local span_us, unit_us = spans_of(before)
  local used = math.min(arrival_us - now_us, span_us) / unit_us
  local _, other_us = spans_of(rate)
  return math.floor(now_us + used * other_us)
end

-- How many may start now. A quotient that comes out a trifle too small for a whole number is one.
local function starts_left(arrival_us, rate, now_us)
  local span_us = spans_of(rate)
  local left_us = span_us - math.max(0, arrival_us - now_us)
  return math.max(0, math.floor(left_us * rate.rate_limit / (rate.rate_window_ms * 1000) + 0.000000001))
end

-- The arrival time after so many starts. Rounded up where a burst is set, for there it may be a single one; else down, as it
-- always was: a microsecond too many would hold back the last of a window.
local function arrival_after(arrival_us, rate, now_us, starts)
  local _, unit_us = spans_of(rate)
  local round = rate.rate_burst > 0 and math.ceil or math.floor
  return math.max(arrival_us, now_us) + round(starts * unit_us)
end

-- Milliseconds until one more may start.
local function next_start_in_ms(arrival_us, rate, now_us)
  local span_us, unit_us = spans_of(rate)
  local ahead_us = math.min(arrival_us - now_us, span_us)
  return math.max(0, math.ceil((ahead_us + unit_us - span_us) / 1000))
end

-- One meter a limit: how many units are `free` now, and `reset_us`, how long until all of them are.

-- Lets the meter read the counts of its limit.
local function read_counts(meter, stored)
  local counts
  if stored then
    meter.kept_until_ms, meter.token = pair_at(stored, 1)
    counts = without_first(stored, 1)
  end
  if meter.algorithm == 'gcra' then
    return read_gcra(meter, counts)
  elseif meter.algorithm == 'concurrency' then
    return read_concurrency(meter, counts)
  end
  return read_sliding_window(meter, counts)
end

-- An older release has counted, without the time of the subject.
local function note_token(subject, token)
  if token > subject.token then
    subject.token, subject.taken_us = token, math.max(token, subject.taken_us)
  end
end

-- A limit: a group of a repeated argument.
local LIMITS =
  fields({ 'name:text', 'algorithm:text', 'limit:integer', 'window_ms:integer', 'burst:integer' })

-- The meters. Stores the time of the subject in it; see shared/rate-limit/subject.
local function read_meters(subject, limits, first, server_us)
  local meters, now_us = {}, server_us + subject.offset_us
  for at = first, #limits, #LIMITS do
    local place = #meters
    local meter = {
      field = subject.fields[FIRST_LIMIT + place],
      algorithm = limits[at + LIMITS.algorithm],
      limit = tonumber(limits[at + LIMITS.limit]),
      window_us = limits[at + LIMITS.window_ms] * 1000,
      burst = tonumber(limits[at + LIMITS.burst]),
      now_us = now_us,
      kept_until_ms = 0,
      token = 0,
    }
    read_counts(meter, subject.counts[FIRST_LIMIT + place])
    meters[place + 1] = meter
    note_token(subject, meter.token)
  end
  if subject.taken_us > now_us + STEP_US then
    subject.offset_us, subject.stepped = subject.taken_us - server_us, true
    return read_meters(subject, limits, first, server_us)
  end
  subject.now_us = now_us
  return meters
end

-- How long until the limit allows so many units; 0: now.
local function wait_for_meter(meter, units)
  if meter.algorithm == 'gcra' then
    return wait_for_gcra(meter, units)
  elseif meter.algorithm == 'sliding-window' then
    return wait_for_sliding_window(meter, units)
  end
  return wait_for_concurrency(meter)
end

-- The longest wait, and the place of the limit that demands it; 0 if all limits allow so many units.
local function longest_wait(meters, units)
  local longest_us, denier = 0, 0
  for place, meter in ipairs(meters) do
    local wait_us = wait_for_meter(meter, units)
    if wait_us > longest_us then
      longest_us, denier = wait_us, place
    end
  end
  return longest_us, denier
end

local function report_meters(meters)
  local reported = {}
  for _, meter in ipairs(meters) do
    reported[#reported + 1] = meter.free
    reported[#reported + 1] = meter.reset_us
  end
  return reported
end

-- Whether a limit can never allow so many units at once.
local function is_too_much(meters, units)
  for _, meter in ipairs(meters) do
    if meter.algorithm ~= 'concurrency' and units > meter.burst then
      return true
    end
  end
  return false
end

-- How many takes of a limit (`limit`, `window_us` and `burst`) are granted if not all are, how long until one more is,
-- and how far ahead of now the theoretical arrival time then is. Tried downwards from one more than there is room for.
local function grant_fewer(rate, ahead, rest, count, cost)
  local limit, window_us, burst = rate.limit, rate.window_us, rate.burst
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
    -- Exact while the product of room and limit is; beyond that a unit more or less.
    local units = (room - room % window_us) / window_us + 1
    wait_us = over_us
    granted = math.min(granted - 1, (units - units % cost) / cost + 1)
  end
end

-- One meter a limit: how many units are `free` now, and `reset_us`, how long until all of them are.

local function read_meters(subject, limits, first, now_us)
  local meters, kept = {}, subject.token <= now_us + CLOCK_SLACK_US
  for at = first, #limits, 5 do
    local place = #meters + 1
    local field, algorithm = subject.fields[place + 4], limits[at + 1]
    local stored = subject.counts[place + 4]
    local meter = {
      field = field,
      algorithm = algorithm,
      limit = tonumber(limits[at + 2]),
      window_us = limits[at + 3] * 1000,
      burst = tonumber(limits[at + 4]),
      now_us = now_us,
    }
    if algorithm == 'gcra' then
      read_gcra(meter, kept and stored)
    elseif algorithm == 'sliding-window' then
      read_sliding_window(meter, kept and stored)
    else
      -- Whose lease was granted holds its place, whatever the clock does.
      read_concurrency(meter, stored)
    end
    meters[place] = meter
  end
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

-- The longest wait, and the place of the limit that demands it; 0 when all limits allow so many units.
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

local function tell_meters(meters)
  local told = {}
  for _, meter in ipairs(meters) do
    told[#told + 1] = meter.free
    told[#told + 1] = meter.reset_us
  end
  return told
end

-- The limit that can never allow so many units at once, or nil.
local function find_too_small(meters, units)
  for place, meter in ipairs(meters) do
    if meter.algorithm ~= 'concurrency' and units > meter.burst then
      return place
    end
  end
  return nil
end

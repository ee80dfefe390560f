-- Giving back units that were taken at `at_us`, so that what counts is never less than what was taken and
-- not given back.

-- A token is the time of its take, or ahead of it where takes came faster than the clock ticks.
local TOKEN_LEAD_US = 1000

-- What has flowed back by itself since the take is not given a second time.
local function refund_gcra(meter, units, at_us)
  local back, rest = gcra_cost(meter, units)
  back = back - math.max(0, meter.now_us - at_us)
  local ahead, ahead_rest = meter.ahead - back, meter.rest - rest
  if back < 0 then
    return
  end
  if ahead_rest < 0 then
    ahead, ahead_rest = ahead - 1, ahead_rest + meter.limit
  end
  if ahead < 0 then
    ahead, ahead_rest = 0, 0
  end
  gcra_set(meter, ahead, ahead_rest)
end

-- The oldest units go: those that stay count for longer, so the window never holds too many.
local function refund_sliding_window(meter, units, at_us)
  if at_us + meter.window_us <= meter.now_us + TOKEN_LEAD_US then
    return
  end
  local total, log, left = meter.total, meter.log, units
  while left > 0 and #log > 0 do
    local last_us, counted = pair_at(log, 1)
    local given = math.min(left, counted)
    log = without_first(log, 1)
    if given < counted then
      log = pack_pair(last_us, counted - given) .. log
    end
    total, left = total - given, left - given
  end
  sliding_window_set(meter, total, log)
end

local function refund_meters(meters, units, at_us)
  for _, meter in ipairs(meters) do
    if meter.algorithm == 'gcra' then
      refund_gcra(meter, units, at_us)
    elseif meter.algorithm == 'sliding-window' then
      refund_sliding_window(meter, units, at_us)
    end
  end
end

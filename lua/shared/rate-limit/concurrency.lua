-- Takes that are still at work. Each holds one place, whatever it costs, until it is released or its lease ends. The
-- window of such a limit is the lease.
-- Stored: pairs of the lease's end and the take's token.

local function concurrency_set(meter, leases)
  meter.leases, meter.held = leases, #leases / PAIR_BYTES
  meter.free = math.max(0, meter.limit - meter.held)
  meter.reset_us = 0
  if meter.held > 0 then
    meter.reset_us = pair_at(leases, meter.held) - meter.now_us
  end
end

local function read_concurrency(meter, stored)
  local leases, lapsed = stored or '', 0
  while lapsed < #leases / PAIR_BYTES and pair_at(leases, lapsed + 1) <= meter.now_us do
    lapsed = lapsed + 1
  end
  concurrency_set(meter, without_first(leases, lapsed))
end

local function wait_for_concurrency(meter)
  if meter.held < meter.limit then
    return 0
  end
  return pair_at(meter.leases, meter.held - meter.limit + 1) - meter.now_us
end

local function count_concurrency(meter, token)
  local leases, ends_us, place = meter.leases, meter.now_us + meter.window_us, meter.held
  -- After all others, except those with a longer lease.
  while place > 0 and pair_at(leases, place) > ends_us do
    place = place - 1
  end
  local before = string.sub(leases, 1, place * PAIR_BYTES)
  concurrency_set(meter, before .. pack_pair(ends_us, token) .. without_first(leases, place))
end

-- Frees the place of a take. False if it holds none; meters of other limits have no places.
local function free_place(meter, token)
  for place = 1, meter.held or 0 do
    local _, holder = pair_at(meter.leases, place)
    if holder == token then
      local before = string.sub(meter.leases, 1, (place - 1) * PAIR_BYTES)
      concurrency_set(meter, before .. without_first(meter.leases, place))
      return true
    end
  end
  return false
end

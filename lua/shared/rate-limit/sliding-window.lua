-- A log of taken units. Takes of the same 64th of the window share an entry, which counts until its last one has left
-- the window: the count is never too low, and there are at most 65 entries.
-- Stored: all units in the log, then pairs of last time and units.
local WINDOW_PARTS = 64
local NO_LOG = '\0\0\0\0\0\0\0\0'

local function sliding_window_set(meter, total, log)
  meter.total, meter.log = total, log
  meter.free = math.max(0, meter.limit - total)
  meter.reset_us = 0
  if #log > 0 then
    meter.reset_us = math.max(0, pair_at(log, #log / PAIR_BYTES) + meter.window_us - meter.now_us)
  end
end

local function read_sliding_window(meter, stored)
  local total, start = struct.unpack('>d', stored or NO_LOG)
  local log = string.sub(stored or NO_LOG, start)
  local past, entries = 0, #log / PAIR_BYTES
  while past < entries do
    local last_us, units = pair_at(log, past + 1)
    if last_us + meter.window_us > meter.now_us then
      break
    end
    past, total = past + 1, total - units
  end
  sliding_window_set(meter, total, without_first(log, past))
end

local function wait_for_sliding_window(meter, units)
  local total, wait_us = meter.total, 0
  for place = 1, #meter.log / PAIR_BYTES do
    if total + units <= meter.limit then
      return wait_us
    end
    local last_us, counted = pair_at(meter.log, place)
    total, wait_us = total - counted, last_us + meter.window_us - meter.now_us
  end
  return wait_us
end

local function count_sliding_window(meter, units)
  local log, at_us, grain_us = meter.log, meter.now_us, meter.window_us / WINDOW_PARTS
  local counted = units
  if #log > 0 then
    local last_us, last_units = pair_at(log, #log / PAIR_BYTES)
    -- The log stays sorted over a small step back of the clock.
    at_us = math.max(at_us, last_us)
    if math.floor(last_us / grain_us) == math.floor(at_us / grain_us) then
      log, counted = string.sub(log, 1, -PAIR_BYTES - 1), counted + last_units
    end
  end
  sliding_window_set(meter, meter.total + units, log .. pack_pair(at_us, counted))
end

local function pack_sliding_window(meter)
  return struct.pack('>d', meter.total) .. meter.log
end

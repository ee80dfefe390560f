-- The key outlives what it counts by at least half of this. So it need not be told each time how long to
-- live, and remembers a call for longer than its caller goes on repeating it.
local KEPT_EXTRA_MS = 20000

local function pack_meter(meter)
  if meter.algorithm == 'gcra' then
    return pack_gcra(meter)
  elseif meter.algorithm == 'sliding-window' then
    return pack_sliding_window(meter)
  end
  return meter.leases
end

-- Writes the counts, `refunded` if it is given, and the record of the call, all at once, and sees to it
-- that the key vanishes by itself.
local function save_subject(state, subject, meters, now_us, caller, call, answer, refunded)
  local now_ms, needed_us = math.floor(now_us / 1000), 0
  local written = {}
  for _, meter in ipairs(meters) do
    written[#written + 1] = meter.field
    written[#written + 1] = pack_meter(meter)
    needed_us = math.max(needed_us, meter.reset_us)
  end
  local life_ms = math.ceil(needed_us / 1000) + KEPT_EXTRA_MS
  local prolong = now_ms + life_ms - KEPT_EXTRA_MS / 2 > subject.kept_until_ms
  if prolong then
    subject.kept_until_ms = now_ms + life_ms
  end
  written[#written + 1] = 'head'
  written[#written + 1] = struct.pack('>dd', subject.kept_until_ms, subject.token)
  if not subject.exists then
    written[#written + 1] = 'layout'
    written[#written + 1] = SUBJECT_LAYOUT
  end
  if refunded then
    written[#written + 1] = 'refunded'
    written[#written + 1] = refunded
  end
  if caller ~= '' then
    written[#written + 1] = caller
    written[#written + 1] = call_record(call, now_ms, answer)
  end
  redis.call('HSET', state, unpack(written))
  if prolong then
    redis.call('PEXPIRE', state, exact(life_ms))
  end
  if caller ~= '' then
    forget_old_calls(state, call, now_ms)
  end
end

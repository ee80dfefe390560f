-- Writes what the limits of a subject have counted.

local function pack_counts(meter)
  local head = pack_pair(meter.kept_until_ms, meter.token)
  if meter.algorithm == 'gcra' then
    return head .. pack_gcra(meter)
  elseif meter.algorithm == 'sliding-window' then
    return head .. pack_sliding_window(meter)
  end
  return head .. meter.leases
end

-- How long the key has to live for all limits, or nil if it will. Notes that in the meters. It ends by the server's clock,
-- which has to reach the newest token first, for tokens rise.
local function plan_life(meters, now_us, offset_us)
  local needed_us, short = 0, false
  for _, meter in ipairs(meters) do
    needed_us = math.max(needed_us, meter.reset_us)
  end
  local needed_ms = (now_us + needed_us) / 1000 + KEPT_EXTRA_MS / 2
  for _, meter in ipairs(meters) do
    short = short or needed_ms > meter.kept_until_ms
  end
  if not short then
    return nil
  end
  for _, meter in ipairs(meters) do
    meter.kept_until_ms = math.floor(needed_ms) + KEPT_EXTRA_MS / 2
  end
  return math.ceil((needed_us + offset_us) / 1000) + KEPT_EXTRA_MS
end

-- Writes the counts, the record of the call and what else is `written`, all at once. The key always has an
-- end. `at_us` is the call's token, or its time.
local function save_subject(state, subject, meters, now_us, caller, call, at_us, written)
  local life_ms = plan_life(meters, now_us, subject.offset_us)
  for _, meter in ipairs(meters) do
    written[#written + 1] = meter.field
    written[#written + 1] = pack_counts(meter)
  end
  if not subject.exists then
    written[#written + 1] = 'layout'
    written[#written + 1] = SUBJECT_LAYOUT
  end
  written[#written + 1] = 'time'
  written[#written + 1] = pack_time(subject.token, subject.taken_us, subject.offset_us)
  if caller ~= '' then
    written[#written + 1] = caller
    written[#written + 1] = pack_pair(call, at_us)
  end
  redis.call('HSET', state, unpack(written))
  if life_ms then
    keep_for(state, life_ms)
  end
  -- Where a record comes, old ones go: a caller may live for one call.
  local is_first = subject.exists and not subject.record
  if caller ~= '' and (is_first or call % 16 == 0) then
    forget_old_fields(state, now_us)
  end
end

-- Makes a call safe to repeat, as shared/calls does, with records of a form that costs less: the call's
-- number and its token as doubles, or the time in microseconds where a call gives no token. Fields with
-- a dot are those of callers. What was refunded is forgotten with them; see shared/rate-limit/refunded.
local CALL_MEMORY_US = 600000000

-- The token of this very call, if it was carried out before. The second value is true for a call whose
-- bytes arrive after a later one has taken its slot: it has settled long ago and must not run again.
local function recall_token(record, call)
  if not record then
    return nil, false
  end
  local number, token = struct.unpack('>dd', record)
  return number == call and token or nil, number > call
end

local function forget_old_fields(state, now_us)
  -- Two records, and some other fields.
  drop_over(state, 5, function(record, field)
    if string.find(field, '^refunded:') then
      return struct.unpack('>d', record) <= now_us
    elseif not string.find(field, '.', 1, true) then
      return false
    end
    local _, at_us = struct.unpack('>dd', record)
    return now_us - at_us > CALL_MEMORY_US
  end)
end

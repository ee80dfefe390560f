-- Makes a call safe to repeat. A caller numbers its calls in each of its slots and reuses a slot only
-- after the call in it has settled, so one remembered answer a slot is enough. Answers of callers that
-- are long gone are dropped by sampling: no index, a few bytes a call.
local CALL_MEMORY_MS = 600000

-- The answer that this very call got before, or nil. The second value is true for a call whose bytes
-- arrive after a later one has taken its slot: it has settled long ago and must not run again.
local function remembered_answer(calls, caller, call)
  if caller == '' then
    return nil, false
  end
  local known = redis.call('HGET', calls, caller)
  local number, answer = string.match(known or '', '^(%d+) %d+ (.*)$')
  if number == call then
    return answer, false
  end
  return nil, number ~= nil and tonumber(number) > tonumber(call)
end

local function forget_old_calls(calls, now_ms)
  -- The embedded demo engine does not know the command; it keeps nothing for long anyway.
  local sample = redis.pcall('HRANDFIELD', calls, 2, 'WITHVALUES')
  for at = 1, #sample, 2 do
    local at_ms = string.match(sample[at + 1], '^%d+ (%d+) ')
    if now_ms - at_ms > CALL_MEMORY_MS then
      redis.call('HDEL', calls, sample[at])
    end
  end
end

-- True when the slot is new, so that `calls` may be.
local function remember_answer(calls, caller, call, now_ms, answer)
  if caller == '' then
    return false
  end
  local added = redis.call('HSET', calls, caller, call .. string.format(' %.0f ', now_ms) .. answer) == 1
  if call % 16 == 0 then
    forget_old_calls(calls, now_ms)
  end
  return added
end

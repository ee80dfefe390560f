-- Makes a call safe to repeat. A caller numbers its calls in each of its slots and reuses a slot only
-- after the call in it has settled, so one remembered answer a slot is enough. Answers of callers that
-- are long gone are dropped by sampling: no index, a few bytes a call. The hash may hold other fields,
-- whose values do not begin with two numbers. A user who may not look for what is over leaves it there: the call itself is done by then.
local CALL_MEMORY_MS = 600000

-- Which call this is; the library gives it.
local CALL_ID = arguments({
  caller = 'text', -- process and slot; empty: the call is not remembered
  call = 'text', -- number of the call in that slot
})

-- What is remembered of a slot: number, time and answer of its last call.
local function call_record(call_id, now_ms, answer)
  return call_id.call .. ' ' .. exact(now_ms) .. ' ' .. answer
end

local function refusal_of_late_call()
  return redis.error_reply('INVALID call: a later one has taken its slot')
end

-- What refuses the call: its bytes arrive after a later one has taken its slot, so it has settled long ago and must not run again. Then the
-- answer that this very call got before, from the record of its slot; nil where it had none.
local function recall(record, call_id)
  if not record then
    return nil
  end
  local number = string.match(record, '^%d+')
  if number == call_id.call then
    return nil, string.match(record, '^%d+ %d+ (.*)$')
  elseif tonumber(number) > tonumber(call_id.call) then
    return refusal_of_late_call()
  end
  return nil
end

-- `added`: how many fields came with the record of this call. Where one comes, others go, for a caller may live for one call;
-- few are no burden. Callers that stay drop by and by what was left.
local function forget_old_calls(calls, call_id, added, now_ms)
  local held = added > 0 and redis.pcall('HLEN', calls)
  local is_one_more = type(held) == 'number' and held > 16
  if not is_one_more and call_id.call % 16 ~= 0 then
    return
  end
  -- Two records, and up to three other fields.
  drop_over(calls, 5, function(record)
    local at_ms = string.match(record, '^%d+ (%d+) ')
    return at_ms and now_ms - at_ms > CALL_MEMORY_MS
  end)
end

local function remember_answer(calls, call_id, now_ms, answer)
  if call_id.caller ~= '' then
    local added = redis.call('HSET', calls, call_id.caller, call_record(call_id, now_ms, answer))
    forget_old_calls(calls, call_id, added, now_ms)
  end
end

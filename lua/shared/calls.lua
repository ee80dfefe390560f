-- Makes a call safe to repeat. A caller numbers its calls in each of its slots and reuses a slot only after the call in
-- it has settled, so one remembered answer per slot is enough. Answers of inactive callers are dropped by sampling:
-- without an index, at a few bytes a call. The hash may hold other fields, whose values do not begin with two numbers.
-- A user without the right to sample leaves expired records: the call itself is done by then.
local CALL_MEMORY_MS = 600000

-- Identifies a call; the library supplies it.
local CALL_ID = arguments({
  caller = 'text', -- process and slot; empty: the script does not remember the call
  call = 'text', -- number of the call in that slot
})

-- The record of a slot: number, time and answer of its last call.
local function call_record(call_id, now_ms, answer)
  return call_id.call .. ' ' .. exact(now_ms) .. ' ' .. answer
end

local function refusal_of_late_call()
  return redis.error_reply('INVALID call: a later one has taken its slot')
end

-- Refuses a call that arrives after a later one has taken its slot: it has settled long ago and must not run again.
-- Otherwise returns the earlier answer of this very call, from the record of its slot; nil if it had none.
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

-- `added`: number of fields added by the record of this call. When one is added, others are dropped, because a caller
-- may live for one call; a few do no harm. Long-lived callers gradually drop the rest, with one of 17 calls: their numbers
-- may be shared with other structures in turn, so that this one gets only each second, or each fourth.
local function forget_old_calls(calls, call_id, added, now_ms)
  local held = added > 0 and redis.pcall('HLEN', calls)
  local is_one_more = type(held) == 'number' and held > 16
  if not is_one_more and call_id.call % 17 ~= 16 then
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

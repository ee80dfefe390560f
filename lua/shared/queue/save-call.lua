-- Saves the queue and remembers the call, in one write.
local function save_queue_and_call(meta, queue, caller, call, now_ms, answer)
  if caller == '' then
    return save_queue(meta, queue)
  end
  local record = call_record(call, now_ms, answer)
  local added = write_state(meta, queue, packed_state(queue), caller, record)
  forget_old_calls(meta, call, added, now_ms)
end

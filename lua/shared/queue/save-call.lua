-- Saves the queue and remembers the call, in one write.
local function save_queue_and_call(meta, queue, caller, call, now_ms, answer)
  if caller == '' then
    return save_queue(meta, queue)
  end
  write_state(meta, queue, packed_state(queue), caller, call_record(call, now_ms, answer))
  forget_old_calls(meta, call, now_ms)
end

-- Puts the value of a counter together: what SQL has, what is pending, and what is sealed if SQL has not got that yet.
-- Answers it, as text. `due_ms`: until when it stays if it is clean; 0: for ever.
local function take_in(values, pending, sealed, clean, id, stored, with_sealed, due_ms)
  local waiting, in_batch = redis.call('HGET', pending, id), redis.call('HGET', sealed, id)
  redis.call('HSET', values, id, stored)
  if waiting then
    redis.call('HINCRBY', values, id, waiting)
  end
  if in_batch and with_sealed then
    redis.call('HINCRBY', values, id, in_batch)
  end
  if not waiting and not in_batch and due_ms > 0 then
    keep_clean(values, clean, id, due_ms)
  end
  return waiting and redis.call('HGET', values, id) or in_batch and redis.call('HGET', values, id) or stored
end

-- Puts the value of a counter together: what SQL has, what is pending or set aside, and what is sealed if SQL has not got that
-- yet. Answers it, as text; false, and shows nothing, where it leaves 64 bits. `due_ms`: until when it stays if it is clean;
-- 0: for ever.
local function take_in(values, pending, rest, sealed, clean, id, stored, with_sealed, due_ms)
  local in_batch = redis.call('HGET', sealed, id)
  local waiting, aside = redis.call('HGET', pending, id), redis.call('HGET', rest, id)
  redis.call('HSET', values, id, stored)
  for _, delta in ipairs({ waiting or '0', aside or '0', in_batch and with_sealed and in_batch or '0' }) do
    -- No want of memory: HSET has passed.
    if delta ~= '0' and type(redis.pcall('HINCRBY', values, id, delta)) == 'table' then
      redis.call('HDEL', values, id)
      return false
    end
  end
  if waiting or aside or in_batch then
    return redis.call('HGET', values, id)
  end
  if due_ms > 0 then
    keep_clean(values, clean, id, due_ms)
  end
  return stored
end

-- Shows what SQL has of a counter. What is noted of it is added, less what of that SQL had when it was read (`known`); where
-- nobody can tell (nil), nothing is. Answers what is shown, as text. What leaves 64 bits is left out: it is read again.
local function put(shown, noted, idle, id, stored, known, due_ms)
  local waiting = redis.call('HGET', noted, id)
  redis.call('HSET', shown, id, stored)
  if not waiting then
    if due_ms > 0 then
      keep_clean(shown, idle, id, due_ms)
    end
    return stored
  end
  if not known then
    return stored
  end
  redis.pcall('HINCRBY', shown, id, waiting)
  redis.pcall('HINCRBY', shown, id, opposite(known))
  return redis.call('HGET', shown, id)
end

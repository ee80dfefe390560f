-- Notes what happened in SQL: `noted` has it until it is known that what is shown has it from SQL, 0 included. Answers what
-- is shown, as text; nil when nothing is. What cannot be added is not shown any more, and comes from SQL again.
local function note(shown, noted, idle, id, by)
  redis.pcall('HINCRBY', noted, id, by)
  redis.call('ZREM', idle, id)
  if redis.call('HEXISTS', shown, id) == 0 then
    return nil
  end
  local value = redis.pcall('HINCRBY', shown, id, by)
  if type(value) == 'table' then
    redis.call('HDEL', shown, id)
    return nil
  end
  return text_of(shown, id, value)
end

-- One increment: the value, and what has still to be flushed of it, are one step for a reader.

-- Beyond these a double, which HINCRBY answers, cannot tell neighbours apart.
local MOST_EXACT = 9007199254740991

-- The exact text of a value.
local function text_of(values, id, value)
  if value > MOST_EXACT or value < -MOST_EXACT then
    return redis.call('HGET', values, id)
  end
  return exact(value)
end

local function opposite(delta)
  if delta == '0' then
    return delta
  end
  return string.sub(delta, 1, 1) == '-' and string.sub(delta, 2) or '-' .. delta
end

-- Adds to a value that is there, and to what waits of it: where that was set aside, there, so that a counter waits once.
-- `is_some_aside`: whether anything was. Answers the new value, as text, and whether it is pending now; nil when one of
-- them would leave 64 bits, and then nothing has changed. The server has not refused to grow before.
local function add(values, pending, rest, clean, id, delta, is_some_aside)
  local value = redis.pcall('HINCRBY', values, id, delta)
  if type(value) == 'table' then
    return nil
  end
  local is_aside = is_some_aside and redis.call('HEXISTS', rest, id) == 1
  local waiting
  if is_aside then
    waiting = redis.pcall('HINCRBY', rest, id, delta)
  else
    waiting = redis.pcall('HINCRBY', pending, id, delta)
  end
  if type(waiting) == 'table' then
    redis.call('HINCRBY', values, id, opposite(delta))
    return nil
  end
  if waiting == tonumber(delta) then
    -- The first one since the last seal.
    redis.call('ZREM', clean, id)
  end
  return text_of(values, id, value), not is_aside
end

-- True when the database is behind, and this counter would be one more that waits for it.
local function is_one_too_many(pending, rest, id, most_dirty)
  return most_dirty > 0
    and redis.call('HLEN', pending) + redis.call('HLEN', rest) >= most_dirty
    and redis.call('HEXISTS', pending, id) == 0
    and redis.call('HEXISTS', rest, id) == 0
end

-- True when none of so many counters can be one too many.
local function are_few(pending, rest, count, most_dirty)
  return most_dirty == 0 or redis.call('HLEN', pending) + redis.call('HLEN', rest) + count <= most_dirty
end

-- One increment: for a reader, the value and its unflushed amount change in one step.

-- Beyond these a double, which HINCRBY returns, cannot distinguish neighbours.
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

-- Adds to a loaded value, and to its unflushed increments: to those set aside, if it has any, so that a counter waits
-- once. `is_some_aside`: whether any counter has. Returns the new value, as text, and whether it is pending now; nil if
-- one of them would leave 64 bits, and then nothing has changed. Callers have made sure that the server accepts growth.
local function add(keys, id, delta, is_some_aside)
  local value = redis.pcall('HINCRBY', keys.values, id, delta)
  if type(value) == 'table' then
    return nil
  end
  local is_aside = is_some_aside and redis.call('HEXISTS', keys.rest, id) == 1
  local waiting
  if is_aside then
    waiting = redis.pcall('HINCRBY', keys.rest, id, delta)
  else
    waiting = redis.pcall('HINCRBY', keys.pending, id, delta)
  end
  if type(waiting) == 'table' then
    redis.call('HINCRBY', keys.values, id, opposite(delta))
    return nil
  end
  if waiting == tonumber(delta) then
    -- The first increment since the last seal.
    redis.call('ZREM', keys.clean, id)
  end
  return text_of(keys.values, id, value), not is_aside
end

-- True if the database lags, and this counter would exceed the number that may wait for it.
local function is_one_too_many(keys, id, most_dirty)
  return most_dirty > 0
    and redis.call('HLEN', keys.pending) + redis.call('HLEN', keys.rest) >= most_dirty
    and redis.call('HEXISTS', keys.pending, id) == 0
    and redis.call('HEXISTS', keys.rest, id) == 0
end

-- True if so many more counters cannot exceed the bound.
local function are_few(keys, count, most_dirty)
  return most_dirty == 0
    or redis.call('HLEN', keys.pending) + redis.call('HLEN', keys.rest) + count <= most_dirty
end

-- Increments of different counters in a few commands for all: a command for each costs more than the sums.

-- Smaller amounts are written as an integer, which takes half as long as a double and may have only 32 bits.
local MOST_PLAIN = 1000000000

local function are_plain(by, sum, wait)
  return by < MOST_PLAIN
    and by > -MOST_PLAIN
    and sum < MOST_PLAIN
    and sum > -MOST_PLAIN
    and wait < MOST_PLAIN
    and wait > -MOST_PLAIN
end

-- An increment of a counter: a group of a repeated argument; without an idempotency key ''.
local COUNTERS = fields({ 'id:text', 'delta:text', 'key:text' })

-- Adds to the loaded values (`now`), and to their unflushed increments, while nothing is set aside; each counter occurs
-- once, its delta follows it in `counters`. Returns the new values, as text, and false for those that are not loaded,
-- the places of these, and whether there are others; nil if HINCRBY must handle an increment, and then nothing has
-- changed. Callers have made sure that the server accepts growth.
local function add_plain(keys, ids, now, counters, counters_at)
  local waiting = redis.call('HMGET', keys.pending, unpack(ids))
  local shown, refused, sums, waits, first = {}, {}, {}, {}, {}
  local last, format = 0, string.format
  for place = 1, #ids do
    local id = ids[place]
    if now[place] then
      local delta = counters[counters_at + (place - 1) * #COUNTERS + COUNTERS.delta]
      local by = tonumber(delta) or 0
      local sum, wait = now[place] + by, (waiting[place] or 0) + by
      -- HINCRBY decides about fractions and unusual notations.
      if not are_plain(by, sum, wait) or format('%d', by) ~= delta then
        return nil
      end
      shown[place] = format('%d', sum)
      sums[last + 1], sums[last + 2] = id, shown[place]
      waits[last + 1], waits[last + 2] = id, format('%d', wait)
      last = last + 2
      if not waiting[place] then
        first[#first + 1] = id
      end
    else
      shown[place] = false
      refused[#refused + 1] = place - 1
      refused[#refused + 1] = 'absent'
    end
  end
  if last > 0 then
    redis.call('HSET', keys.values, unpack(sums))
    redis.call('HSET', keys.pending, unpack(waits))
  end
  if #first > 0 then
    -- The first increments since the last seal.
    redis.call('ZREM', keys.clean, unpack(first))
  end
  return shown, refused, last > 0
end

-- Computes the value of a counter: the value in SQL, pending increments or those set aside, and sealed ones if SQL does
-- not have them yet. Returns it, as text; false, and shows nothing, if it leaves 64 bits. `due_ms`: until when it stays
-- if it is clean; 0: forever.
local function take_in(keys, id, stored, with_sealed, due_ms)
  local in_batch = redis.call('HGET', keys.sealed, id)
  local waiting, aside = redis.call('HGET', keys.pending, id), redis.call('HGET', keys.rest, id)
  redis.call('HSET', keys.values, id, stored)
  for _, delta in ipairs({ waiting or '0', aside or '0', in_batch and with_sealed and in_batch or '0' }) do
    -- Memory is no cause: HSET has passed.
    if delta ~= '0' and type(redis.pcall('HINCRBY', keys.values, id, delta)) == 'table' then
      redis.call('HDEL', keys.values, id)
      return false
    end
  end
  if waiting or aside or in_batch then
    return redis.call('HGET', keys.values, id)
  end
  if due_ms > 0 then
    keep_clean(keys.values, keys.clean, id, due_ms)
  end
  return stored
end

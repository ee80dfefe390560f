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
    -- The first one since the last seal.
    redis.call('ZREM', keys.clean, id)
  end
  return text_of(keys.values, id, value), not is_aside
end

-- True when the database is behind, and this counter would be one more that waits for it.
local function is_one_too_many(keys, id, most_dirty)
  return most_dirty > 0
    and redis.call('HLEN', keys.pending) + redis.call('HLEN', keys.rest) >= most_dirty
    and redis.call('HEXISTS', keys.pending, id) == 0
    and redis.call('HEXISTS', keys.rest, id) == 0
end

-- True when none of so many counters can be one too many.
local function are_few(keys, count, most_dirty)
  return most_dirty == 0
    or redis.call('HLEN', keys.pending) + redis.call('HLEN', keys.rest) + count <= most_dirty
end

-- Increments of different counters in a few commands for all: a command for each costs more than the sums.

-- What is less is written as an integer, which takes half as long as a double and may have 32 bits only.
local MOST_PLAIN = 1000000000

local function are_plain(by, sum, wait)
  return by < MOST_PLAIN
    and by > -MOST_PLAIN
    and sum < MOST_PLAIN
    and sum > -MOST_PLAIN
    and wait < MOST_PLAIN
    and wait > -MOST_PLAIN
end

-- What is added to a counter: a group of a repeated argument; without an idempotency key ''.
local COUNTERS = fields({ 'id:text', 'delta:text', 'key:text' })

-- Adds to the values that are there (`now`), and to what waits of them, while nothing is set aside; each counter comes once,
-- its delta behind it in `counters`. Answers the new values, as text and false for those that are not there, the places of
-- these, and whether there are others; nil when something is left to HINCRBY, and then nothing has changed. The server has
-- not refused to grow before.
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
      -- Of what is no whole number, or is written in another way, HINCRBY judges.
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
    -- The first ones since the last seal.
    redis.call('ZREM', keys.clean, unpack(first))
  end
  return shown, refused, last > 0
end

-- Puts the value of a counter together: what SQL has, what is pending or set aside, and what is sealed if SQL has not got that
-- yet. Answers it, as text; false, and shows nothing, where it leaves 64 bits. `due_ms`: until when it stays if it is clean;
-- 0: for ever.
local function take_in(keys, id, stored, with_sealed, due_ms)
  local in_batch = redis.call('HGET', keys.sealed, id)
  local waiting, aside = redis.call('HGET', keys.pending, id), redis.call('HGET', keys.rest, id)
  redis.call('HSET', keys.values, id, stored)
  for _, delta in ipairs({ waiting or '0', aside or '0', in_batch and with_sealed and in_batch or '0' }) do
    -- No want of memory: HSET has passed.
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

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

-- Adds to the values that are there (`now`), and to what waits of them, while nothing is set aside; each counter comes once,
-- its delta behind it in `counters`. Answers the new values, as text and false for those that are not there, the places of
-- these, and whether there are others; nil when something is left to HINCRBY, and then nothing has changed. The server has
-- not refused to grow before.
local function add_plain(values, pending, clean, ids, now, counters, counters_at)
  local waiting = redis.call('HMGET', pending, unpack(ids))
  local shown, refused, sums, waits, first = {}, {}, {}, {}, {}
  local last, format = 0, string.format
  for place = 1, #ids do
    local id = ids[place]
    if now[place] then
      local delta = counters[counters_at + 3 * place - 2]
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
    redis.call('HSET', values, unpack(sums))
    redis.call('HSET', pending, unpack(waits))
  end
  if #first > 0 then
    -- The first ones since the last seal.
    redis.call('ZREM', clean, unpack(first))
  end
  return shown, refused, last > 0
end

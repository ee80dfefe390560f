-- One that was told to come finds that another was quicker: that one passes by, or keeps the lock.

-- Longer than the work of those who take and give back as fast as they can.
local PASSING_MS = 20

-- Whether the lock is free, or was taken so recently that trying again by itself beats standing in line.
local function passes_by(lock, now_ms)
  return is_free(lock) or math.abs(now_ms - lock.token / 1000) <= PASSING_MS
end

-- Its place is kept: it has waited longest.
local function stand_before_all(queue, text, last_ticket)
  if last_ticket == 0 then
    return
  end
  local first = redis.call('ZRANGE', queue, '0', '0', 'WITHSCORES')
  if first[1] then
    redis.call('ZADD', queue, 'NX', math.floor(first[2]) - 1, text)
  end
end

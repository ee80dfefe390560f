-- Removes permits whose lease has ended; answers whether there were any. What one call leaves counts as used,
-- so the limit holds.
local function reap(semaphore, permits, ids, now_ms)
  if semaphore.used == 0 or semaphore.soonest_end_ms > now_ms then
    return false
  end
  local ended = redis.call('ZRANGEBYSCORE', permits, '-inf', now_ms, 'WITHSCORES', 'LIMIT', '0', MOST_REAPED)
  local tokens = {}
  for at = 1, #ended, 2 do
    tokens[#tokens + 1] = ended[at]
  end
  if tokens[1] then
    for at, permit in ipairs(forget_permits(semaphore, permits, ids, tokens)) do
      note_late(semaphore, permit.id, tokens[at], ended[2 * at])
    end
  end
  look_ahead(semaphore, permits)
  return true
end

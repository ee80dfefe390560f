-- The main key of a semaphore, one text:
-- '<layout> <limit> <resized> <used> <token> <soonest_end_ms> <last_end_ms> <last_ticket>'.
--   limit           the newest one that came with an attempt; once `resized`, that of `resize` alone
--   used            weight of all permits that are out, those included whose end has not been noticed yet
--   token           the newest one granted; it outlives its permit, so that tokens rise
--   soonest_end_ms  no permit ends earlier
--   last_end_ms     no permit ends later
--   last_ticket     number of the newest ticket; 0: nobody waits, and the queue is not looked at
local SEMAPHORE_LAYOUT = '1'

-- A semaphore of an unknown layout has nothing but `layout`. The token stays text: it is copied.
local function open_semaphore(state)
  local stored = redis.call('GET', state)
  if not stored then
    return {
      layout = SEMAPHORE_LAYOUT,
      limit = 0,
      resized = 0,
      used = 0,
      token = '0',
      soonest_end_ms = 0,
      last_end_ms = 0,
      last_ticket = 0,
    }
  end
  local layout, limit, resized, used, token, soonest, last, last_ticket =
    string.match(stored, '^(%d+) (%d+) (%d) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  if layout ~= SEMAPHORE_LAYOUT then
    return { layout = string.match(stored, '^%S*') }
  end
  return {
    layout = layout,
    limit = tonumber(limit),
    resized = tonumber(resized),
    used = tonumber(used),
    token = token,
    soonest_end_ms = tonumber(soonest),
    last_end_ms = tonumber(last),
    last_ticket = tonumber(last_ticket),
  }
end

-- Whether so much is free.
local function fits(semaphore, weight)
  return semaphore.used + weight <= semaphore.limit
end

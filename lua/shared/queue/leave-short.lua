-- Recurrences that know few coming times. As long as there are any, claims tell that there is a chore; see
-- src/queue/chores.ts.
local REFILL = 1

-- No longer short of times.
local function leave_short(short, queue, id)
  local is_told = queue.chores % (REFILL * 2) >= REFILL
  if is_told and redis.call('ZREM', short, id) == 1 and redis.call('EXISTS', short) == 0 then
    queue.chores = queue.chores - REFILL
  end
end

-- How often a recurring job has moved to another partition; see shared/queue/read-recurrence.

local function moves_of(recurrences, id)
  return tonumber(redis.call('HGET', recurrences, 'm' .. id) or 0)
end

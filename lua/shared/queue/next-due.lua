-- When there is something to do again although nobody calls, in milliseconds of the server; nil: never.
local function next_due_ms(scheduled, leases, held, queue)
  local first = redis.call('ZRANGE', scheduled, '0', '0', 'WITHSCORES')[2]
  local lease = redis.call('ZRANGE', leases, '0', '0', 'WITHSCORES')[2]
  local soonest = math.min(tonumber(first or math.huge), tonumber(lease or math.huge))
  if is_marked(queue, GROUPS) then
    local group = redis.call('ZRANGE', held, '0', '0', 'WITHSCORES')[2]
    soonest = math.min(soonest, tonumber(group or math.huge))
  end
  return soonest < math.huge and soonest or nil
end

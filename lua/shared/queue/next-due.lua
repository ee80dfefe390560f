-- When there is something to do again although nobody calls, in milliseconds of the server; nil: never.
local function next_due_ms(keys, queue, settings)
  local first = redis.call('ZRANGE', keys.scheduled, '0', '0', 'WITHSCORES')[2]
  local lease = redis.call('ZRANGE', keys.leases, '0', '0', 'WITHSCORES')[2]
  local soonest = math.min(tonumber(first or math.huge), tonumber(lease or math.huge))
  if is_marked(queue, GROUPS) then
    local group = redis.call('ZRANGE', keys.held, '0', '0', 'WITHSCORES')[2]
    soonest = math.min(soonest, tonumber(group or math.huge))
  end
  if is_marked(queue, RECURRENCES) and not settings.paused then
    local run = redis.call(
      'ZRANGEBYSCORE',
      keys.recurring,
      '-inf',
      '(9007199254740991',
      'WITHSCORES',
      'LIMIT',
      '0',
      '1'
    )[2]
    soonest = math.min(soonest, tonumber(run or math.huge))
  end
  return soonest < math.huge and soonest or nil
end

-- When what was claimed just now, until `ends_ms`, brings something to do: its leases end, or a rate that it used up
-- lets the next job start.
local function next_change_ms(held, queue, settings, ends_ms, now_us)
  local soonest = ends_ms
  local start_ms = next_start_ms(queue, settings, now_us)
  if start_ms > 0 then
    soonest = math.min(soonest, math.floor(now_us / 1000) + start_ms)
  end
  if is_marked(queue, GROUPS) then
    local group = redis.call('ZRANGE', held, '0', '0', 'WITHSCORES')[2]
    soonest = math.min(soonest, tonumber(group or math.huge))
  end
  return soonest
end

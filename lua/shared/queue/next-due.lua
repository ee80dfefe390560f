-- The least score; nil where there is none. What may not be seen now is looked for again in a moment.
local function least_of(set, now_ms)
  local first = redis.pcall('ZRANGE', set, '0', '0', 'WITHSCORES')
  return first.err and now_ms + 1000 or tonumber(first[2])
end

-- When there is something to do again although nobody calls, in milliseconds of the server; nil: never.
local function next_due_ms(keys, queue, settings, now_ms)
  local first, lease = least_of(keys.scheduled, now_ms), least_of(keys.leases, now_ms)
  local soonest = math.min(first or math.huge, lease or math.huge)
  if is_marked(queue, GROUPS) then
    soonest = math.min(soonest, least_of(keys.held, now_ms) or math.huge)
  end
  if is_marked(queue, DEPENDENCIES) then
    local parent = least_of(keys.parents, now_ms)
    -- Those of other queues are asked after by somebody, who may take a moment.
    local ask_ms = parent and math.max(parent, now_ms + 1000)
    soonest = math.min(soonest, parent == 0 and now_ms or ask_ms or math.huge)
  end
  if is_marked(queue, RECURRENCES) and not settings.paused then
    local run = redis.pcall(
      'ZRANGEBYSCORE',
      keys.recurring,
      '-inf',
      '(9007199254740991',
      'WITHSCORES',
      'LIMIT',
      '0',
      '1'
    )
    soonest = math.min(soonest, run.err and now_ms + 1000 or tonumber(run[2] or math.huge))
  end
  return soonest < math.huge and soonest or nil
end

-- What is due of parents: children to tell, and other queues to ask.
local function note_parents_due(keys, queue, now_ms)
  local parent = redis.call('ZRANGE', keys.parents, '0', '0', 'WITHSCORES')[2]
  if parent == '0' then
    queue.settling = true
  elseif parent and tonumber(parent) <= now_ms then
    queue.chores = with_flag(queue.chores, ASK_AFTER)
  end
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
    soonest = math.min(soonest, least_of(held, math.floor(now_us / 1000)) or math.huge)
  end
  return soonest
end

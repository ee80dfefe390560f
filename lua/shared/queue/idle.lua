-- Workers that found nothing, longest first. Each has a name, '<process>.<number>', and its process listens on
-- '<channel>:<process>' for 'come <name> 0'; behind ':' it may say that it takes jobs by letter, see shared/queue/hand-over,
-- which is no part of its name in letters. Whoever brings work calls one; one that finds more than it takes calls the
-- next, so that as many come as there is work for. A process that does not listen is gone, and passed over.
--
-- Two of them watch the time, and stand behind the others, by greater scores:
--   the first    comes back by itself when the next job is due or the next lease ends. When it goes nobody watches.
--   the second   is of another process. It comes back at the time that its score tells, a second after the first one at
--                the latest: whatever becomes of the first one's process, what is due is seen then.
-- Where one process alone is called, a second is called as well, once in a second, and comes back after a second. So a
-- job does not wait for a process that listens and does not come.
--
-- All this is done besides: where the user misses a right to it, it ends no call. Workers look by themselves after a while.
local WATCHING = 1125899906842624
local SECOND = 2251799813685248
local IDLE_KEPT_MS = '7200000'
local MOST_GONE = 500
local MOST_LOOKED_AT = 500
-- One that is so late will not come.
local LATE_MS = 1000

-- The first one watches no more.
local function end_watch(queue, score)
  if score >= WATCHING and score < SECOND then
    queue.watch_ms = 0
  end
end

-- The name of the one that waits longest; nil where nobody does. It waits no more.
local function pop_idle(idle, queue)
  local popped = queue.idle > 0 and redis.pcall('ZPOPMIN', idle) or {}
  local name, score = popped[1], popped[2]
  if popped.err then
    return nil
  elseif not name then
    queue.idle = 0
    return nil
  end
  queue.idle = queue.idle - 1
  end_watch(queue, tonumber(score))
  return name
end

local function ticket_of(worker)
  return { id = string.match(worker, '^[^:]*'), listens = 1 }
end

local function come_message(ticket)
  return 'come ' .. ticket.id .. ' 0'
end

-- Calls it. False when it is certain that it is gone.
local function tell_idle(worker, how)
  local ticket = ticket_of(worker)
  return tell_process(ticket, come_message(ticket), how)
end

-- Whether a second one that is not of this process comes by itself by then.
local function has_second(idle, process, by_ms, now_ms, how)
  local names = redis.pcall('ZRANGEBYSCORE', idle, SECOND + now_ms, SECOND + by_ms, 'LIMIT', '0', '3')
  for _, name in ipairs(names) do
    local ticket = ticket_of(name)
    if process_of(ticket) ~= process and listens_here(ticket, how) ~= false then
      return true
    end
  end
  return false
end

-- One of those waits no more, or several. Answers whether the user may do that.
local function remove_idle(idle, queue, names)
  local removed = redis.pcall('ZREM', idle, unpack(names))
  local may = type(removed) == 'number'
  queue.idle = queue.idle - (may and removed or 0)
  return may
end

-- Removes those that are gone from the hundred that wait longest.
local function drop_gone(idle, queue, how)
  local names, processes, gone = redis.pcall('ZRANGE', idle, '0', '99', 'WITHSCORES'), {}, {}
  for at = 1, #names, 2 do
    processes[#processes + 1] = process_of({ id = names[at] })
  end
  local listening = processes[1] and listening_here(processes, how)
  for at, process in ipairs(listening and processes or {}) do
    if not listening[process] then
      gone[#gone + 1] = names[at * 2 - 1]
      end_watch(queue, tonumber(names[at * 2]))
    end
  end
  if gone[1] then
    remove_idle(idle, queue, gone)
  end
end

-- The name of the one that waits longest and is not gone, and whether its process listens, nil where that is not known. It
-- waits no more. Nil where nobody waits, or too many are gone.
local function pop_living(idle, queue, how)
  for _ = 1, MOST_GONE, 100 do
    local name = pop_idle(idle, queue)
    local listens = name and listens_here(ticket_of(name), how)
    if listens ~= false then
      return name, listens
    end
    -- Others may be gone, too.
    drop_gone(idle, queue, how)
  end
end

-- Calls the first of these that is not of this process, and has it come back by then. Those that are gone, or were called so
-- before and did not come, wait no more. Answers whether there was one, and how many are of this process.
local function call_one_of(some, idle, queue, process, by_ms, now_ms, how)
  local own = 0
  for at = 1, #some, 2 do
    local name, score = some[at], tonumber(some[at + 1])
    if process_of({ id = name }) == process then
      own = own + 1
    else
      end_watch(queue, score)
      local is_late = score >= SECOND and score < SECOND + now_ms - LATE_MS
      if not is_late and tell_idle(name, how) then
        redis.pcall('ZADD', idle, SECOND + by_ms, name)
        return true, own
      end
      remove_idle(idle, queue, { name })
    end
  end
  return false, own
end

-- Calls one that is not of this process, and has it come back by then: one of those that wait longest, or that watch.
local function call_second(idle, queue, process, by_ms, now_ms, how)
  local from, count = 0, 10
  while from < MOST_LOOKED_AT do
    local some = redis.pcall('ZRANGE', idle, from, from + count - 1, 'WITHSCORES')
    local called, own = call_one_of(some, idle, queue, process, by_ms, now_ms, how)
    if called or #some < 2 * count then
      return
    end
    from, count = from + own, 100
  end
  -- Behind all others stand those that watch.
  call_one_of(redis.pcall('ZRANGE', idle, '-3', '-1', 'WITHSCORES'), idle, queue, process, by_ms, now_ms, how)
end

-- Sees to it that one that is not of this process comes by then.
local function see_to_second(idle, queue, process, by_ms, now_ms, how)
  if queue.idle > 0 and not has_second(idle, process, by_ms, now_ms, how) then
    call_second(idle, queue, process, by_ms, now_ms, how)
  end
end

local function call_idle(idle, queue, count, now_ms, how)
  local first, several
  for _ = 1, count do
    local name = pop_living(idle, queue, how)
    if not name then
      break
    end
    local ticket = ticket_of(name)
    publish_to(ticket, come_message(ticket), how)
    local process = process_of(ticket)
    several = several or (first and first ~= process)
    first = first or process
  end
  if first and not several then
    see_to_second(idle, queue, first, now_ms + LATE_MS, now_ms, how)
  end
end

-- Answers its score if it was still waiting.
local function leave_idle(idle, queue, name)
  local score = queue.idle > 0 and name ~= '' and tonumber(redis.pcall('ZSCORE', idle, name))
  if score and remove_idle(idle, queue, { name }) then
    end_watch(queue, score)
  end
  return score
end

local function is_watched(queue, now_ms)
  return queue.watch_ms + LATE_MS > now_ms
end

-- What comes at that time must be seen by somebody.
local function see_to(idle, queue, due_ms, now_ms, how)
  if queue.idle > 0 and (not is_watched(queue, now_ms) or due_ms < queue.watch_ms) then
    call_idle(idle, queue, 1, now_ms, how)
  end
end

-- Until when one that stood so was called to come back; nil: it was not, or comes back now.
local function called_until(score, now_ms)
  local by_ms = (score or 0) - SECOND
  return by_ms > now_ms and by_ms or nil
end

-- The process of the first one, or nil. The newest is the one; there may be others, which were late.
local function watching_process(idle)
  local first = redis.pcall('ZRANGEBYSCORE', idle, WATCHING, '(2251799813685248', 'LIMIT', '0', '10')
  return first[1] and process_of({ id = first[#first] })
end

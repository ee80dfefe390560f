-- How a worker waits; see shared/queue/idle.

-- Answers whether it stands there, where the user may do that.
local function stand_idle(idle, queue, name, score)
  local added = redis.pcall('ZADD', idle, score, name)
  -- One that a call left there which was refused then is counted now.
  if added == 1 or queue.idle == 0 and added == 0 then
    queue.idle = queue.idle + 1
    redis.pcall('PEXPIRE', idle, IDLE_KEPT_MS)
  end
  return type(added) == 'number'
end

-- Until when a worker of this process watches as the second one; nil: it need not.
local function second_until(idle, queue, process, now_ms, how)
  local by_ms = queue.watch_ms + LATE_MS
  local watching = watching_process(idle)
  if watching == process or has_second(idle, watching, by_ms, now_ms, how) then
    return nil
  end
  return by_ms
end

-- A worker waits, and watches the time where nobody else does, or what is due comes sooner (`due_ms`; nil: nothing is).
-- `score` is how it stood until now. Answers in how many milliseconds it has to come back; 0: it need not.
local function wait_idle(idle, queue, worker, due_ms, score, now_ms, how)
  local process, by_ms = process_of({ id = worker }), called_until(score, now_ms)
  queue.idlers = queue.idlers + 1
  if due_ms and not (is_watched(queue, now_ms) and queue.watch_ms <= due_ms) then
    see_to_second(idle, queue, process, due_ms + LATE_MS, now_ms, how)
    queue.watch_ms = stand_idle(idle, queue, worker, WATCHING + queue.idlers) and due_ms or 0
    return math.max(1, math.min(due_ms, by_ms or math.huge) - now_ms)
  end
  if by_ms and by_ms > (due_ms and queue.watch_ms or now_ms) + LATE_MS then
    by_ms = nil
  end
  if due_ms and not by_ms and queue.idle > 0 then
    by_ms = second_until(idle, queue, process, now_ms, how)
  end
  if not stand_idle(idle, queue, worker, by_ms and SECOND + by_ms or queue.idlers) then
    return LATE_MS
  end
  return by_ms and math.max(1, by_ms - now_ms) or 0
end

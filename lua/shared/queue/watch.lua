-- Who watches the time; see shared/queue/idle.

-- Where the one that watched waits no more, another one comes to watch.
local function see_to_watch(idle, queue, now_ms, how)
  if queue.watch_ms == 0 and queue.due_ms < NEVER_MS then
    see_to(idle, queue, queue.due_ms, now_ms, how)
  end
end

-- Makes a worker that waits the one that watches the time, where nobody does or what is due comes sooner. Answers
-- in how many milliseconds it has to come back; 0: it need not.
local function watch_time(queue, due_ms, wait_ms, now_ms)
  if wait_ms > 0 then
    due_ms = math.min(due_ms or math.huge, now_ms + wait_ms)
  end
  if not due_ms or (is_watched(queue, now_ms) and queue.watch_ms <= due_ms) then
    return 0
  end
  queue.watch_ms = due_ms
  return math.max(1, due_ms - now_ms)
end

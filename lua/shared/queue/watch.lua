-- Who watches the time; see shared/queue/idle.

-- Where one that watched waits no more, another one comes to watch.
local function see_to_watch(idle, queue, score, now_ms, how)
  local by_ms = called_until(score, now_ms)
  if by_ms then
    see_to_second(idle, queue, watching_process(idle), by_ms, now_ms, how)
  end
  if queue.watch_ms == 0 and queue.due_ms < NEVER_MS then
    see_to(idle, queue, queue.due_ms, now_ms, how)
  end
end

-- A worker that found less than it wanted waits until it is woken. Answers in how many milliseconds it has to come back
-- by itself; 0: it need not.
local function wait_for_work(keys, queue, settings, worker, score, has_room, now_us, how)
  local now_ms, wait_ms = math.floor(now_us / 1000), next_start_ms(queue, settings, now_us)
  if has_room and queue.ready > 0 and has_more(keys, queue) then
    wait_ms = 1
  end
  local due_ms = next_due_ms(keys, queue, settings, now_ms)
  due_ms = due_ms and look_again(queue, due_ms, now_ms)
  note_due(queue, due_ms or math.huge)
  if wait_ms > 0 then
    due_ms = math.min(due_ms or math.huge, now_ms + wait_ms)
  end
  note_time(queue, now_us)
  return wait_idle(keys.idle, queue, worker, due_ms, score, now_ms, how)
end

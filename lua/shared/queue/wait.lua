-- @include shared/queue/note-time
-- @include shared/queue/look-again

-- A worker that found less than it wanted waits until it is woken. Answers in how many milliseconds it has to come back
-- by itself; 0: it need not.
local function wait_for_work(keys, queue, settings, worker, has_room, now_us)
  local now_ms, wait_ms = math.floor(now_us / 1000), next_start_ms(queue, settings, now_us)
  if has_room and queue.ready > 0 and has_more(keys, queue) then
    wait_ms = 1
  end
  local due_ms = next_due_ms(keys, queue, settings, now_ms)
  local recheck_ms = watch_time(queue, due_ms and look_again(queue, due_ms, now_ms), wait_ms, now_ms)
  note_time(queue, now_us)
  stand_idle(keys.idle, queue, worker, recheck_ms > 0)
  return recheck_ms
end

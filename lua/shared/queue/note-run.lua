-- Notes when a recurrence runs next, so that somebody comes to spawn it.
local function note_run(idle, queue, recurrence, now_ms, how)
  if recurrence.next_ms > 0 then
    note_due(queue, recurrence.next_ms)
    see_to(idle, queue, recurrence.next_ms, now_ms, how)
  end
end

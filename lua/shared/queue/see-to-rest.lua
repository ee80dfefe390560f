-- Children of parents that have ended, beyond those that one call tells, are due at once: one that waits sees to them.
local function see_to_rest(idle, queue, now_ms, how)
  if queue.due_ms <= now_ms then
    see_to(idle, queue, now_ms, now_ms, how)
  end
end

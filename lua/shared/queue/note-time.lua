-- Lets a later call see whether the clock has stepped back since this one, which claimed nothing: tokens are numbered by the
-- time, so the newest may be as new as now; see shared/queue/is-behind.
local function note_time(queue, now_us)
  queue.token = math.max(queue.token, now_us - 1)
end

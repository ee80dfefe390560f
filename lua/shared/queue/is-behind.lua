-- Whether the server's clock has stepped back, by itself or because a node took over whose clock is behind. The newest job and
-- the newest token, which rise, are numbered by the time. A queue that was idle for longer than the step does not know of
-- it; what it waits for is late by less than that.
local STEP_MS = 1000

local function is_behind(queue, now_ms)
  return math.max(queue.last, queue.token) > (now_ms + STEP_MS) * 1000
end

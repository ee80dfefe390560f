-- Whether the server's clock has stepped back, by itself or because a node took over whose clock is behind, and what comes
-- again and again has to go on meanwhile: recurrences, and groups with a rate. The newest job and the newest token, which
-- rise, are numbered by the time. A queue that was idle for longer than the step does not know of it; what it waits for is
-- late by less than that.
local STEP_MS = 1000
-- So often it is looked at what the step holds back; see shared/queue/catch-up.
local LOOK_AGAIN_MS = 1000

local function is_behind(queue, now_ms)
  -- A mark of 1 is that of priorities.
  return queue.marks > 1 and math.max(queue.last, queue.token) > (now_ms + STEP_MS) * 1000
end

local function must_catch_up(queue, now_ms)
  return queue.due_ms > now_ms + LOOK_AGAIN_MS and is_behind(queue, now_ms)
end

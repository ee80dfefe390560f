-- When to look again, at the latest, what a step back of the clock holds back; see shared/queue/catch-up.
local LOOK_AGAIN_MS = 1000

local function look_again(queue, due_ms, now_ms)
  return queue.is_behind and math.min(due_ms, now_ms + LOOK_AGAIN_MS) or due_ms
end

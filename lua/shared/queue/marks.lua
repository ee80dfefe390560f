-- What a queue was ever used for. A part that was never used is not looked at: most queues use few.
local GROUPS = 2
-- Of those from here on the quick way need not know; see also shared/queue/recurs.
local DEPENDENCIES = 4
-- Payloads that are stored apart; see shared/queue/body.
local BODIES = 128

local function is_marked(queue, mark)
  return queue.marks % (mark * 2) >= mark
end

local function set_mark(queue, mark)
  if not is_marked(queue, mark) then
    queue.marks = queue.marks + mark
  end
end

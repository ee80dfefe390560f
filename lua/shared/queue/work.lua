-- Calls on many jobs end behind the one that reaches this, and the others are for the next call: 2 for a job, 4 for one with
-- options, and 1 for each of its parents; or where they have moved as many bytes as a call may.
-- @include shared/bytes
local MOST_WORK = 2000

local function may_do_more(queue)
  return (queue.work or 0) < MOST_WORK and (queue.moved or 0) < CALL_BYTES
end

local function count_work(queue, job)
  queue.work = (queue.work or 0) + (job.is_plain and 2 or 4)
end

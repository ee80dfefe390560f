-- The numbers of new jobs; see shared/queue/job.

-- The last number of `count` new jobs is `queue.last`; answers the first.
local function number_jobs(queue, count, now_us)
  local first = math.max(queue.last + 1, now_us)
  queue.last = first + count - 1
  queue.enqueued = queue.enqueued + count
  return first
end

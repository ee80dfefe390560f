-- Remembers for those who listen, where there are any, what happens to a job; see shared/queue/message. A job that was never
-- claimed has no run.
local function happened(queue, what, seq, job, run, more)
  local events = queue.events
  if not events then
    return
  elseif run then
    events[#events + 1] = { what, seq, job.id, job.name, run.attempts, run.token, run.flags, more }
  else
    events[#events + 1] = { what, seq, job.id, job.name, 0, 0, 0, more }
  end
end

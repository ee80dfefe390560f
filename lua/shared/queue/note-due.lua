-- From when on something may be due: a scheduled job, or a lease that ends. Whoever comes earlier need not look. It is
-- never too late, perhaps too early: leases are extended, and jobs are done.

local function note_due(queue, due_ms)
  if due_ms < queue.due_ms then
    queue.due_ms = due_ms
  end
end

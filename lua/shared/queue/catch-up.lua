-- Sees to what the time has brought: leases that ended, and jobs that are due.
local function catch_up(keys, queue, now_us)
  -- @include shared/queue/flagged
  -- @include shared/queue/entries
  -- @include shared/queue/history
  -- @include shared/queue/failure
  -- @include shared/queue/note-failure
  -- @include shared/queue/dead
  -- @include shared/queue/bury-claimed
  -- @include shared/queue/reclaim
  -- @include shared/queue/due
  reclaim_lost(keys, queue, now_us, 100)
  show_due(keys, queue, now_us, 100)
  queue.due_ms = next_due_ms(keys, queue) or NEVER_MS
end

-- Sees to what the time has brought: leases that ended, jobs that are due, parents to ask after, and runs that recur.
-- About as many jobs become ready as are `wanted`, for others wait meanwhile.
local function bring_due(keys, queue, settings, now_us, wanted)
  -- @include shared/queue/entries
  -- @include shared/queue/history
  -- @include shared/queue/failure
  -- @include shared/queue/note-failure
  -- @include shared/queue/dead
  -- @include shared/queue/bury-claimed
  -- @include shared/queue/reclaim
  -- @include shared/queue/due
  local now_ms = math.floor(now_us / 1000)
  reclaim_lost(keys, queue, now_us, 100)
  show_due(keys, queue, now_us, math.max(20, math.min(wanted, 100)))
  if queue.is_behind then
    -- @include shared/exact
    -- @include shared/queue/leave-short
    -- @include shared/queue/read-recurrence
    -- @include shared/queue/recurrence
    -- @include shared/queue/catch-up
    catch_up(keys, queue, settings, now_us)
  end
  if is_marked(queue, DEPENDENCIES) then
    note_parents_due(keys, queue, now_ms)
  end
  if is_marked(queue, RECURRENCES) and not settings.paused then
    -- @include shared/queue/spawn
    spawn_due(keys, queue, now_us, 100)
  end
  -- @include shared/queue/look-again
  queue.due_ms = look_again(queue, next_due_ms(keys, queue, settings, now_ms) or NEVER_MS, now_ms)
end

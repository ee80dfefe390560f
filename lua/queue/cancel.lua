--[[
Cancels jobs. A job that is not claimed is removed, also one that is dead or done: `cancelled`. A claimed job is asked
to stop: `stopping`. Its worker learns this when it extends, acks, retries or fails the job. The job is removed by one
of the last three calls, or when its lease ends. `absent`: there is no such job. Repeating the call changes nothing
more, and returns `absent` for removed jobs. If the work exceeds one call, there are fewer outcomes than ids: send the
others in the next call. `chores` is work for some process; 0: none.

@returns cancelled  chores:integer outcomes:[outcome:text]
@cost    O(jobs x log n), of at most 1,000 that change, and fewer with options and dependencies,
         and at times a list of at most 3,000 numbers,
         and at times 16 kB of notes for the statistics
]]
local how = ARGV[1] -- HOW: how waiters are notified
local wanted, wanted_at = ARGV, 4 -- repeated (id:text): the jobs

local queue = try(open_to_change(keys.meta, how))
local outcomes, has_tried = {}, false
for at = wanted_at, #wanted, 1 do
  if not may_do_more(queue) then
    break
  end
  local seq, record, run = find_job(keys, wanted[at])
  local is_held = run and (run.state == 'c' or run.state == 'x')
  if seq and not has_tried then
    if is_held then
      refuse_when_full(keys)
    end
    try_rights(keys, queue)
    has_tried = true
  end
  if not seq then
    outcomes[#outcomes + 1] = 'absent'
  elseif is_held then
    if run.state == 'c' then
      happened(queue, 'stopping', seq, read_job(record, queue.usual), run, '')
      local entry = { what = 'x', at_ms = queue.now_ms, claimed_ms = run.at_ms, kind = '' }
      note_history(keys.jobs, seq, run, entry)
    end
    store_run(keys.jobs, seq, run, 'x', run.at_ms)
    outcomes[#outcomes + 1] = 'stopping'
  else
    local job = read_job(record, queue.usual)
    displace(keys, queue, seq, job, run, size_of(record, run))
    happened(queue, 'cancelled', seq, job, run, '')
    if not run or run.state ~= 'd' and run.state ~= 'f' then
      note_end(keys.jobs, queue, seq, job, run, CANCELLED)
    end
    erase_job(keys, queue, seq, job, run)
    queue.cancelled = queue.cancelled + 1
    count_job(queue, 'c', job.name)
    outcomes[#outcomes + 1] = 'cancelled'
  end
end
if queue.settling then
  local became_ready = settle_dependents(keys, queue, 100)
  see_to_rest(keys.idle, queue)
  if queue.idle > 0 then
    call_idle(keys.idle, queue, math.min(became_ready, 8))
  end
end
if queue.left then
  sweep_ready(keys, queue, queue.left)
end
notify_others(keys, queue)
save_queue(keys.meta, queue)
return { 'cancelled', queue.chores, outcomes }

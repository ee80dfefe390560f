--[[
Makes jobs ready now: scheduled, blocked, dead, and kept completed ones. Their attempts count from the start again, and
they hold their unique keys again. Outcomes: `requeued`, or why not: `ready`, `claimed`, `absent`, or `duplicate`:
another job has its unique key. Repeating the call changes nothing more, and returns `ready` or `claimed` for requeued
jobs. If the work exceeds one call, there are fewer outcomes than ids: send the others in the next call.

@returns requeued  outcomes:[outcome:text]
@cost    O(jobs x log n), of at most 1,000 that change, and fewer with options, dependencies and large results
]]
local how = ARGV[1] -- HOW: how waiters are notified
local wanted, wanted_at = ARGV, 4 -- repeated (id:text): the jobs

local queue = try(open_to_change(keys.meta, how))
try_rights(keys, queue)
local outcomes, requeued = {}, 0
for at = wanted_at, #wanted, 1 do
  if not may_do_more(queue) then
    break
  end
  local seq, record, run = find_job(keys, wanted[at])
  local outcome = not seq and 'absent' or state_of(run)
  if outcome == 'stopping' then
    outcome = 'claimed'
  elseif seq and outcome ~= 'ready' and outcome ~= 'claimed' then
    local job = read_job(record, queue.usual)
    outcome = 'duplicate'
    if may_hold_again(keys.ids, job, seq, queue.now_ms) then
      displace(keys, queue, seq, job, run, size_of(record, run))
      begin_again(keys, queue, seq, job, run)
      hold_again(keys.ids, job, seq)
      outcome = 'requeued'
      requeued = requeued + 1
    end
  end
  outcomes[#outcomes + 1] = outcome
end
if queue.idle > 0 then
  call_idle(keys.idle, queue, math.min(requeued, 8))
end
if queue.events then
  publish(keys.listeners, queue.events, queue.now_ms)
end
save_queue(keys.meta, queue)
return { 'requeued', outcomes }

--[[
Adds dependencies to a blocked job, or removes some; without any left the job becomes ready or scheduled. An added
dependency must be an older job of this queue, so that jobs never wait in a circle; an unknown one is treated as done.
`left` is how many remain. `state`: the actual state if the job is not blocked, or `absent`; `newer`: a dependency is
not an older job. In both cases nothing is changed. Safe to repeat.

@returns changed  left:integer chores:integer
@returns refused  state:text
@cost    O(dependencies x log n),
         and at times 16 kB of notes for the statistics
]]
local how = ARGV[1] -- HOW: how waiters are notified
local id = ARGV[4] -- text: the job
local changes, changes_at = ARGV, 5 -- repeated (adds:flag dependency:text): what to add and to remove, 'l<id>' or 'q<queue>\1<id>'

local queue = try(open_to_change(keys.meta, how))

local seq, record, run = find_job(keys, id)
local state = seq and state_of(run) or 'absent'
if state ~= 'blocked' then
  return { 'refused', state }
end
for at = changes_at, #changes, #CHANGES do
  if changes[at + CHANGES.adds] == '1' and not is_older(keys, changes[at + CHANGES.dependency], seq) then
    return { 'refused', 'newer' }
  end
end
if changes[changes_at + CHANGES.adds] == '1' then
  refuse_when_full(keys)
end
try_rights(keys, queue)
local wants = read_wants(keys, seq)
for at = changes_at, #changes, #CHANGES do
  change_dependency(
    keys,
    queue,
    seq,
    wants,
    changes[at + CHANGES.adds] == '1',
    changes[at + CHANGES.dependency]
  )
end
local became_ready = 0
local left = save_wants(keys, seq, wants)
if left == 0 and unblock_dependent(keys, queue, seq, read_job(record, queue.usual), run, wants.delay_ms) then
  became_ready = 1
end
if queue.settling then
  became_ready = became_ready + settle_dependents(keys, queue, 100)
  see_to_rest(keys.idle, queue)
end
if queue.idle > 0 then
  call_idle(keys.idle, queue, math.min(became_ready, 8))
end
notify_others(keys, queue)
save_queue(keys.meta, queue)
return { 'changed', left, queue.chores }

--[[
Returns the dependencies of a job, and how they ended: `pending`, `done` with a result, `dead` with their failure,
`cancelled`, or `absent`, which counts as done. The list is empty if the job has none, or is unknown. A page ends once
results reach 4 MiB: only an empty answer means that there are no more.

@returns dependencies  dependencies:[queue:text id:text state:text result:bytes kind:text message:text]
@cost    O(dependencies), and 4 MiB of results
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local id = ARGV[2] -- text: the job
local after = tonumber(ARGV[3] or 0) -- integer: how many of its dependencies to skip

try(open_queue(keys.meta, codec))

local seq = find_job(keys, id)
local stored = seq and redis.call('HGET', keys.jobs, 'd' .. seq)
local reported, place, budget = {}, 0, budget_of(math.huge)
if stored then
  for ref in each_ref(stored) do
    place = place + 1
    if not is_left(budget) then
      break
    end
    -- It has ended before, and was requeued: this dependent waits for its next end.
    local waits = redis.call('ZSCORE', keys.children, ref .. '\0' .. seq)
      and tonumber(redis.call('ZSCORE', keys.parents, ref) or 1) > 0
    if place > after then
      spend(budget, 1, report_dependency(reported, keys.jobs, ref, waits))
    end
  end
end
return { 'dependencies', reported }

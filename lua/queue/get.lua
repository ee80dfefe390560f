--[[
Returns jobs by id. `state`: ready, scheduled, claimed, stopping, dead or done. `at_ms`: since when it is ready, until
when it is scheduled, since when it is claimed, or when it ended. `failed_at_ms` is 0 for a job that never failed.
Unknown jobs are left out. The lookup stops once jobs and logs reach 4 MiB: `looked` is the number of wanted ids it has
processed. `log` has the lines of their logs, by places counted from 0.

@returns found  now_ms:integer looked:integer jobs:[number:integer id:text name:text state:text attempts:integer token:integer at_ms:integer priority:integer max_attempts:integer max_run_ms:integer group:text unique:text trace:text tags:text bytes:integer payload:bytes failed_at_ms:integer failure:text message:text progress:bytes result:bytes? tracked:flag] log:[at:integer at_ms:integer line:text]
@cost    O(jobs), and 4 MiB of payloads and logs
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local wanted, wanted_at = ARGV, 2 -- repeated (id:text): the jobs

local queue = try(open_queue(keys.meta, codec))
local reported, log, place = {}, {}, 0
local looked, budget = 0, budget_of(#wanted)
for at = wanted_at, #wanted, 1 do
  if is_left(budget) then
    local seq, record, run = find_job(keys, wanted[at])
    if seq then
      spend(budget, 1, report_job(reported, keys.jobs, seq, record, run, queue.usual))
      spend(budget, 0, report_log(log, keys.jobs, seq, place))
      place = place + 1
    end
    looked = looked + 1
  end
end
return { 'found', math.floor(clock_us() / 1000), looked, reported, log }

--[[
Returns the history of a job, from enqueueing until now: enqueued, claimed, acked, retried, reclaimed (its lease ended),
released, dead, requeued, stopping (cancelled while claimed). Of a long history it returns the newest entries, and the
first that was not a claim: `omitted` are missing after it.

@returns history  now_ms:integer number:integer omitted:integer entries:[what:text at_ms:integer attempt:integer token:integer kind:text]
@returns absent
@cost    O(1): at most 100 entries
@reads
]]
local id = ARGV[1] -- text: the job

try(open_queue(keys.meta))
local seq, _, run = find_job(keys, id)
if not seq then
  return { 'absent' }
end
local entries, omitted = report_history(keys.jobs, seq, run)
return { 'history', math.floor(clock_us() / 1000), tonumber(seq), omitted, entries }

--[[
Makes claimed jobs dead: not done, and never tried again unless requeued. Each job is handled on its own: `refused`
lists places (counted from 0) of jobs that were lost, and the reason. A repeated call returns the same answer and does
nothing more. `chores` is work for some process; 0: none.

@returns failed  chores:integer refused:[at:integer why:text]
@cost    O(jobs x log n),
         and at times 16 kB of notes for the statistics
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local call_id = ARGV[2] -- CALL_ID: of this call; see shared/calls
local how = ARGV[4] -- HOW: how waiters are notified
local failures, failures_at = ARGV, 7 -- repeated (number:text token:integer kind:text message:text): jobs, and why they failed

local queue, remembered = try(open_call(keys.meta, how, call_id, codec))
if remembered then
  return { 'failed', 0, parse_refused(remembered) }
end
try_rights(keys, queue)
local refused, ran = {}, {}
for at = failures_at, #failures, #FAILURES do
  local seq = failures[at + FAILURES.number]
  local record, run, why = judge_job(keys.jobs, seq, tonumber(failures[at + FAILURES.token]))
  if why then
    refused[#refused + 1] = (at - failures_at) / #FAILURES
    refused[#refused + 1] = why
    if why == 'cancelled' then
      stop_job(keys, queue, seq)
    end
  else
    local job = read_job(record, queue.usual)
    redis.call('ZREM', keys.leases, seq)
    end_claim(keys, queue, job, run)
    local failure = { kind = failures[at + FAILURES.kind], message = failures[at + FAILURES.message] }
    fail_claimed(keys, queue, seq, job, run, failure)
    ran[#ran + 1] = run.at_ms
    ran[#ran + 1] = run.name
  end
end
note_spans(queue, 'b', ran, queue.now_ms, 1)
local freed = frees_others(queue) and 1 or 0
if queue.settling then
  freed = math.max(freed, settle_dependents(keys, queue, 100))
  see_to_rest(keys.idle, queue)
end
if queue.idle > 0 and freed > 0 then
  call_idle(keys.idle, queue, math.min(freed, 8))
end
notify_others(keys, queue)
save_queue_and_call(keys.meta, queue, call_id, format_places(refused, {}))
return { 'failed', queue.chores, refused }

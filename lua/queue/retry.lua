--[[
Returns claimed jobs to the queue for another try: after `delay_ms`, or, if that is -1, after the backoff of the job. A
job that has used up its attempts becomes dead instead, and is listed in `dead`. Each job is handled on its own:
`refused` lists jobs that were lost, and the reason. Places are counted from 0. A repeated call returns the same answer
and does nothing more. `chores` is work for some process; 0: none.

@returns retried  chores:integer refused:[at:integer why:text] dead:[at:integer]
@cost    O(jobs x log n),
         and at times 16 kB of notes for the statistics
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local call_id = ARGV[2] -- CALL_ID: of this call; see shared/calls
local how = ARGV[4] -- HOW: how waiters are notified
local failures, failures_at = ARGV, 7 -- repeated (number:text token:integer delay_ms:integer kind:text message:text): jobs, and why they failed

local queue, remembered = try(open_call(keys.meta, how, call_id, codec))
if remembered then
  return { 'retried', 0, parse_refused(remembered), parse_places(remembered) }
end
try_rights(keys, queue)
local refused, dead, soonest_ms, standing = {}, {}, math.huge, 0
local ran = {}
for at = failures_at, #failures, #FAILURES do
  local place, seq = (at - failures_at) / #FAILURES, failures[at + FAILURES.number]
  local record, run, why = judge_job(keys.jobs, seq, tonumber(failures[at + FAILURES.token]))
  if why then
    refused[#refused + 1] = place
    refused[#refused + 1] = why
    if why == 'cancelled' then
      stop_job(keys, queue, seq)
    end
  else
    local job, delay_ms = read_job(record, queue.usual), tonumber(failures[at + FAILURES.delay_ms])
    local failure = { kind = failures[at + FAILURES.kind], message = failures[at + FAILURES.message] }
    redis.call('ZREM', keys.leases, seq)
    end_claim(keys, queue, job, run)
    if run.attempts >= job.max_attempts then
      fail_claimed(keys, queue, seq, job, run, failure)
      dead[#dead + 1] = place
      note_spans(queue, 'b', { run.at_ms, run.name }, queue.now_ms, 1)
    else
      local due_ms = queue.now_ms + (delay_ms < 0 and backoff_of(job, run) or delay_ms)
      local entry = { what = 't', at_ms = queue.now_ms, claimed_ms = run.at_ms, kind = failure.kind }
      note_history(keys.jobs, seq, run, entry)
      happened(queue, 'retried', seq, job, run, failure.kind)
      wait_again(keys, queue, seq, job, run, due_ms)
      note_failure(keys.jobs, seq, queue.now_ms, failure)
      queue.retried = queue.retried + 1
      ran[#ran + 1] = run.at_ms
      ran[#ran + 1] = run.name
      soonest_ms = math.min(soonest_ms, due_ms)
      standing = standing + (due_ms <= queue.now_ms and 1 or 0)
    end
  end
end
note_spans(queue, 't', ran, queue.now_ms, 1)
if queue.settling then
  standing = standing + settle_dependents(keys, queue, 100)
  see_to_rest(keys.idle, queue)
end
if queue.idle > 0 then
  if frees_others(queue) then
    standing = math.max(standing, 1)
  end
  call_idle(keys.idle, queue, math.min(standing, 8))
  if soonest_ms < math.huge then
    see_to(keys.idle, queue, soonest_ms)
  end
end
notify_others(keys, queue)
save_queue_and_call(keys.meta, queue, call_id, format_places(refused, dead))
return { 'retried', queue.chores, refused, dead }

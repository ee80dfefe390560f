--[[
Releases claimed jobs, untouched: each is ready again before all waiting jobs, as if this attempt had never begun; with
a delay, it is ready after the delay. Each job is handled on its own: `refused` lists places (counted from 0) of jobs
that were lost, and the reason. A repeated call returns the same answer and does nothing more. `chores` is work for some
process; 0: none.

@returns released  chores:integer refused:[at:integer why:text]
@cost    O(jobs x log n),
         and at times 16 kB of notes for the statistics
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local call_id = ARGV[2] -- CALL_ID: of this call; see shared/calls
local how = ARGV[4] -- HOW: how waiters are notified
local claims, claims_at = ARGV, 7 -- repeated (number:text token:integer delay_ms:integer): the jobs

local queue, remembered = try(open_call(keys.meta, how, call_id, codec))
if remembered then
  return { 'released', 0, parse_refused(remembered) }
end
try_rights(keys, queue)
local refused, soonest_ms, standing = {}, math.huge, 0
-- From last to first: each is placed before the next one.
for at = #claims - 2, claims_at, -3 do
  local seq = claims[at + CLAIMS.number]
  local record, run, why = judge_job(keys.jobs, seq, tonumber(claims[at + CLAIMS.token]))
  if why then
    table.insert(refused, 1, why)
    table.insert(refused, 1, (at - claims_at) / #CLAIMS)
    if why == 'cancelled' then
      stop_job(keys, queue, seq)
    end
  else
    local due_ms = queue.now_ms + tonumber(claims[at + CLAIMS.delay_ms])
    give_back(keys, queue, seq, read_job(record, queue.usual), run, due_ms)
    if due_ms > queue.now_ms then
      soonest_ms = math.min(soonest_ms, due_ms)
    else
      standing = standing + 1
    end
  end
end
if queue.settling then
  standing = standing + settle_dependents(keys, queue, 100)
  see_to_rest(keys.idle, queue)
end
call_for_returned(keys.idle, queue, standing, soonest_ms)
notify_others(keys, queue)
save_queue_and_call(keys.meta, queue, call_id, format_places(refused, {}))
return { 'released', queue.chores, refused }

--[[
Acks jobs, and for each enqueues another one into this queue, or sends it to another queue, in the same step. Each job
is handled on its own: for those in `refused` (places counted from 0, with the reason) nothing is done. The new jobs of
this queue have the numbers `first`, `first + 1` and so on, by place, except for `duplicates`. A repeated call returns
the same answer and does nothing more.

@returns acked  first:integer chores:integer refused:[at:integer why:text] duplicates:[at:integer number:integer]
@cost    O(jobs x log n),
         and at times 16 kB of notes for the statistics
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local call_id = ARGV[2] -- CALL_ID: of this call; see shared/calls
local how = ARGV[4] -- HOW: how waiters are notified
local steps, steps_at = ARGV, 7 -- repeated (number:text token:integer result:bytes target:text SPECS): completed jobs, and the jobs that follow; target: name of the other queue, empty: this one

local queue, remembered = try(open_call(keys.meta, how, call_id, codec))
if remembered then
  local ended, enqueued = string.match(remembered, '^(.*)|(.*)$')
  return { 'acked', first_of(enqueued), 0, parse_refused(ended), duplicates_of(enqueued) }
end
local settings = parse_settings(queue.settings)
try_rights(keys, queue)
local first = number_jobs(queue, (#steps - steps_at + 1) / #STEPS)
local tally, refused = new_spec_tally(steps), {}
for at = steps_at, #steps, #STEPS do
  local place, seq, target = (at - steps_at) / #STEPS, steps[at + STEPS.number], steps[at + STEPS.target]
  local _, run, why = judge_job(keys.jobs, seq, tonumber(steps[at + STEPS.token]))
  if why then
    refused[#refused + 1] = place
    refused[#refused + 1] = why
    if why == 'cancelled' then
      stop_job(keys, queue, seq)
    end
  else
    finish_jobs(keys, queue, settings, { seq, run, steps[at + STEPS.result] })
    if target == '' then
      enqueue_spec(keys, queue, tally, at + STEPS.name, place, exact(first + place))
    else
      put_out(keys, queue, target, 'j' .. pack_spec(steps, at + STEPS.name))
    end
  end
  if why or target ~= '' then
    queue.enqueued = queue.enqueued - 1
  end
end
if queue.settling then
  tally.ready = tally.ready + settle_dependents(keys, queue, 100)
end
if frees_others(queue) then
  tally.ready = math.max(tally.ready, 1)
end
see_to_new(keys, queue, tally)
notify_others(keys, queue)
local answer = format_places(refused, {}) .. '|' .. format_enqueued(first, tally.duplicates)
save_queue_and_call(keys.meta, queue, call_id, answer)
return { 'acked', first, queue.chores, refused, tally.duplicates }

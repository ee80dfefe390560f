--[[
Puts jobs into a queue, each with options of its own. Their numbers are `first`, `first + 1` and so on in the order
given, except for those in `duplicates` (places counted from 0). A duplicate has the id of a job that is still known, or
a unique key that is held, or an idempotency key that was seen in the last 24 hours. It is not enqueued, and `number` is
that of the other job. A duplicate that may `replace` gives its options and its payload to a job that was not claimed
yet, and restarts the delay of a delayed job; it is listed in `duplicates` all the same. No other job comes between
those of one call. A repeated call enqueues nothing.

@returns enqueued  first:integer chores:integer duplicates:[at:integer number:integer]
@returns unagreed
@cost    O(jobs x log n), and with replaced jobs at times a list of at most 3,000 numbers, and at times 16 kB of notes
         for the statistics
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local spread = ARGV[2] -- PARTITIONS: number of partitions of the queue
local call_id = ARGV[4] -- CALL_ID: of this call; see shared/calls
local how = ARGV[6] -- HOW: how waiters are notified
local specs, specs_at = ARGV, 9 -- repeated SPECS: see shared/queue/job; `until`: s, d or w; dependencies: see shared/queue/dependencies

local queue, remembered = try(open_call(keys.meta, how, call_id, codec, spread.partitions))
if not take_up(keys.meta, queue, spread) then
  return { 'unagreed' }
end
if remembered then
  return { 'enqueued', first_of(remembered), 0, duplicates_of(remembered) }
end
if meets_others(queue, specs, specs_at) then
  refuse_when_full(keys)
  try_rights(keys, queue)
else
  try_places(keys, specs, specs_at)
end
local first = number_jobs(queue, (#specs - specs_at + 1) / #SPECS)
local form, base = exact_range(first, queue.last)
local tally = new_spec_tally(specs)
begin_queue(keys.meta, queue)
begin_jobs(keys, queue)
for at = specs_at, #specs, #SPECS do
  local place = (at - specs_at) / #SPECS
  enqueue_spec(keys, queue, tally, at, place, string.format(form, first - base + place))
end
if queue.settling then
  tally.ready = tally.ready + settle_dependents(keys, queue, 100)
end
see_to_new(keys, queue, tally)
notify_others(keys, queue)
save_queue_and_call(keys.meta, queue, call_id, format_enqueued(first, tally.duplicates))
return { 'enqueued', first, queue.chores, tally.duplicates }

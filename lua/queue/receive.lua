--[[
Takes entries from the outbox of another queue, in its order: jobs, and news of dependencies. Entries that were received
before are skipped, by their number, so the call is safe to repeat, by several processes at once. `newest` is the number
of the newest entry that was received before. An entry for an unknown dependency has instead the newest job that was
asked for (0: any): if later jobs wait for that dependency, it is checked again for them. The call stops after a bound
of work: `taken` is the number of entries processed.

@returns received  chores:integer newest:integer taken:integer
@returns unagreed
@cost    O(entries x log n),
         and at times 16 kB of notes for the statistics
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local spread = ARGV[2] -- PARTITIONS: number of partitions of the queue
local source = ARGV[4] -- text: name of the other queue
local how = ARGV[5] -- HOW: how waiters are notified
local entries, entries_at = ARGV, 8 -- repeated ENTRIES: see shared/queue/outbox; 'a<id>': that dependency is unknown

local queue = read_queue(keys.meta, codec, '')
if is_stale_news(queue, spread.partitions) and not brings_jobs(entries, entries_at) then
  return { 'received', 0, 0, (#entries - entries_at + 1) / #ENTRIES }
end
try(refusal_of_queue(queue, codec, spread.partitions))
if not take_up(keys.meta, queue, spread) then
  return { 'unagreed' }
end

begin_call(queue, how)
refuse_when_full(keys)
try_rights(keys, queue)
local known, tally = tonumber(redis.call('HGET', keys.inbox, source) or 0), new_spec_tally()
local from = { source = source, newest = known }
local taken = take_entries(keys, queue, tally, from, entries, entries_at)
if from.newest > known then
  redis.call('HSET', keys.inbox, source, exact(from.newest))
end
if queue.settling then
  tally.ready = tally.ready + settle_news(keys, queue, 100)
end
see_to_new(keys, queue, tally)
notify_others(keys, queue)
save_queue(keys.meta, queue)
return { 'received', queue.chores, known, taken }

--[[
Sets a recurring job: from now on a job is spawned at each of its times, by an interval (`every_ms` above 0) or by a
cron expression in a time zone. Scripts know no time zones. Callers compute the times of an expression, and `refill`
those after `known_ms` when the recurrence is `short` of them. The same definition again changes nothing. Another one
replaces it from now on, and its runs continue to count; with the same rule the next run stays the same. `next_ms` is 0
if no further run is known. Safe to repeat.

@returns set  now_ms:integer next_ms:integer known_ms:integer short:flag
@returns unagreed
@cost    O(log n)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local spread = ARGV[2] -- PARTITIONS: number of partitions of the queue
local how = ARGV[4] -- HOW: how waiters are notified
local id = ARGV[7] -- text: the recurring job
local rule = ARGV[8] -- RULE: when it runs
local template = ARGV[12] -- TEMPLATE: what it spawns
local moves = tonumber(ARGV[30] or 0) -- integer: how often it has moved between partitions; a greater stored number stays

local queue = try(open_to_change(keys.meta, how, codec, spread.partitions))
if not take_up(keys.meta, queue, spread) then
  return { 'unagreed' }
end
local packed_rule, packed_template = pack_rule(rule), pack_template(template)
local known, moves_more = read_recurrence(keys.recurrences, id), moves > moves_of(keys.recurrences, id)
if not known or known.rule ~= packed_rule or known.template ~= packed_template then
  try_progress(keys)
  begin_queue(keys.meta, queue)
  redis.call('HSET', keys.recurrences, 'd' .. id, packed_rule, 'j' .. id, packed_template)
  known = begin_recurrence(keys, queue, id, known, packed_rule)
  note_time(queue)
  note_run(keys.idle, queue, known)
  save_queue(keys.meta, queue)
end
if moves_more then
  redis.call('HSET', keys.recurrences, 'm' .. id, moves)
end
return { 'set', queue.now_ms, known.next_ms, known.known_ms, is_short(known) and 1 or 0 }

--[[
Sets a recurring job: from now on a job is spawned at each of its times, by an interval (`every_ms` above 0) or by a cron
expression in a time zone. Scripts know no time zones: the times of an expression are computed by callers, who `refill`
those behind `known_ms` where the recurrence is `short` of them. The same definition again changes nothing. Another one
takes its place from now on, and goes on counting; with the same rule the next run stays where it is. `next_ms` is 0
where no further run is known. Safe to repeat.

@returns set  now_ms:integer next_ms:integer known_ms:integer short:flag
@returns unagreed
@cost    O(log n)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local partitions = tonumber(ARGV[2]) -- integer: over how many the queue is spread; 0: it is not
local proof = ARGV[3] -- text: what propose answered, where the partition is not agreed upon yet; else empty
local channel = ARGV[4] -- text: beginning of the channels of processes
local sharded = ARGV[5] == '1' -- flag: whether those are sharded channels
local counted = ARGV[6] == '1' -- flag: whether the number of those who hear tells who is gone
local id = ARGV[7] -- text: the recurring job
local every_ms = tonumber(ARGV[8]) -- integer: the interval; 0: by cron
local offset_ms = tonumber(ARGV[9]) -- integer: from when on intervals count, below `every_ms`
local cron = ARGV[10] -- text: the expression
local time_zone = ARGV[11] -- text: the zone of the expression
local missed = tonumber(ARGV[12]) -- integer: of how many runs that are due jobs are made; 0: of one that was not missed
local limit = tonumber(ARGV[13]) -- integer: how many jobs are spawned in all; 0: no bound
local until_ms = tonumber(ARGV[14]) -- integer: no run is later; 0: no bound
local name = ARGV[15] -- text: of the jobs; what follows is as in enqueue
local payload = ARGV[16] -- bytes: of the jobs
local priority = tonumber(ARGV[17]) -- integer: of the jobs
local max_attempts = tonumber(ARGV[18]) -- integer: of the jobs
local max_run_ms = tonumber(ARGV[19]) -- integer: of the jobs
local backoff = tonumber(ARGV[20]) -- integer: of the jobs
local backoff_ms = tonumber(ARGV[21]) -- integer: of the jobs
local backoff_max_ms = tonumber(ARGV[22]) -- integer: of the jobs
local jitter = tonumber(ARGV[23]) -- integer: of the jobs
local group = ARGV[24] -- text: of the jobs
local unique = ARGV[25] -- text: of the jobs; while it is held, a run spawns none
local till = ARGV[26] -- text: until when that key is held: s, d or w
local window_ms = tonumber(ARGV[27]) -- integer: for how long, where it is held for a time
local trace = ARGV[28] -- text: of the jobs
local tags = ARGV[29] -- text: of the jobs
local moves = tonumber(ARGV[30] or 0) -- integer: how often it has moved between partitions; more that are known stay

local queue = try(open_queue(keys.meta, '', codec, partitions))
if queue.partitions ~= partitions and not take_up(keys.meta, partitions, proof) then
  return { 'unagreed' }
end
local job = {
  name = name,
  priority = priority,
  max_attempts = max_attempts,
  max_run_ms = max_run_ms,
  backoff = backoff,
  backoff_ms = backoff_ms,
  backoff_max_ms = backoff_max_ms,
  jitter = jitter,
  group = group,
  id = '',
  unique = unique == '' and '' or till .. unique,
  trace = trace,
  tags = tags,
  keep_result_ms = 0,
}
begin_call(queue, { channel = channel, sharded = sharded, counted = counted })
local rule = pack_rule(every_ms, offset_ms, cron, time_zone)
local template = pack_template(missed, limit, until_ms, window_ms, job, payload)
local known, moves_more = read_recurrence(keys.recurrences, id), moves > moves_of(keys.recurrences, id)
if not known or known.rule ~= rule or known.template ~= template then
  try_progress(keys)
  begin_queue(keys.meta, queue)
  redis.call('HSET', keys.recurrences, 'd' .. id, rule, 'j' .. id, template)
  known = begin_recurrence(keys, queue, id, known, rule)
  note_time(queue)
  note_run(keys.idle, queue, known)
  save_queue(keys.meta, queue)
end
if moves_more then
  redis.call('HSET', keys.recurrences, 'm' .. id, moves)
end
return { 'set', queue.now_ms, known.next_ms, known.known_ms, is_short(known) and 1 or 0 }

--[[
Loads values that a caller read from SQL together with the ledger of the partition, in one snapshot. A count is the
value in SQL, plus pending increments, plus sealed ones that were not in SQL yet. Values that are already loaded stay,
unless `anew`. `retry`: the snapshot is older than the last flush, or of another epoch (0: the partition has none yet).
A caller that reads SQL after that, and finds it before `seq` of this epoch, knows that SQL came back with an old copy.
`behind`: SQL knows batches that this partition has never sealed, because the server came back with an old copy. Safe to
repeat. The value is nil, and is not loaded, if it leaves 64 bits together with unflushed increments. Also evicts values
that are due.

@returns loaded  values:[value:text?]
@returns retry   epoch:integer seq:integer
@returns behind  epoch:integer seq:integer
@cost    O(counters), and at most 1,000 evictions
]]
local epoch = tonumber(ARGV[1]) -- integer: epoch of that ledger
local seq = tonumber(ARGV[2]) -- integer: the newest batch in it
local retain_ms = tonumber(ARGV[3]) -- integer: how long a clean value stays; 0: forever
local anew = ARGV[4] == '1' -- flag: whether to replace values already loaded
local counters, counters_at = ARGV, 5 -- repeated (id:text value:text): as SQL had them

local partition = try(open_partition(keys.meta, ''))
if (#counters - counters_at + 1) / #COUNTERS > 1000 then
  return redis.error_reply('INVALID counters: must be at most 1000 a call')
end
local is_sealed = partition.batch ~= ''
-- Acked batches are in SQL.
local acked = is_sealed and partition.seq - 1 or partition.seq
if epoch ~= partition.epoch or epoch == 0 then
  return { 'retry', partition.epoch, acked }
end
if seq > partition.seq then
  return { 'behind', partition.epoch, partition.seq }
end
if seq < acked then
  return { 'retry', partition.epoch, acked }
end
local now_ms = math.floor(clock_us() / 1000)
-- A caller that reads more than flushes evict would fill the server.
evict_due(keys.values, keys.clean, now_ms)
local due_ms = retain_ms > 0 and now_ms + retain_ms or 0
local now, with_sealed = {}, is_sealed and seq < partition.seq
for at = counters_at, #counters, #COUNTERS do
  local id = counters[at + COUNTERS.id]
  local known = not anew and redis.call('HGET', keys.values, id)
  now[#now + 1] = known or take_in(keys, id, counters[at + COUNTERS.value], with_sealed, due_ms)
end
let_vanish(keys, partition, retain_ms)
return { 'loaded', now }

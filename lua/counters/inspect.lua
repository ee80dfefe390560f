--[[
A picture of a partition: how many values are here, how many counters have pending and sealed increments and such as were set
aside to be sealed (`rest`), when the oldest of those came (0: there is none), and how many counters have any (`dirty`).

@reads
@returns seen  now_ms:integer epoch:integer seq:integer batch:text values:integer pending:integer sealed:integer pending_ms:integer sealed_ms:integer rest:integer rest_ms:integer dirty:integer
@cost    O(counters of the sealed batch)
]]
local meta = KEYS[1] -- hash: what is known of the partition
local values = KEYS[2] -- hash: id -> value
local pending = KEYS[3] -- hash: id -> what is counted, and neither set aside nor sealed
local rest = KEYS[4] -- hash: id -> what was set aside when a seal began, and what has come to it since
local sealed = KEYS[5] -- hash: id -> what is sealed, and not known to be in SQL

local partition = open_partition(meta, '')
if partition.layout ~= COUNTERS_LAYOUT then
  return redis.error_reply('LAYOUT ' .. partition.layout)
end
local count, count_aside, count_sealed =
  redis.call('HLEN', pending), redis.call('HLEN', rest), redis.call('HLEN', sealed)
-- What is set aside is neither pending nor sealed.
local dirty = count + count_aside + count_sealed
if count_sealed > 0 then
  dirty = dirty - count_again(pending, sealed)
end
return {
  'seen',
  math.floor(clock_us() / 1000),
  partition.epoch,
  partition.seq,
  partition.batch,
  redis.call('HLEN', values),
  count,
  count_sealed,
  partition.pending_ms,
  partition.sealed_ms,
  count_aside,
  partition.rest_ms,
  dirty,
}

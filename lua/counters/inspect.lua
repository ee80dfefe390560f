--[[
Returns an overview of a partition: the number of loaded values; how many counters have pending increments, sealed ones,
and ones set aside for sealing (`rest`); the time of the oldest of these (0: none); and how many counters have any
(`dirty`).

@reads
@returns seen  now_ms:integer epoch:integer seq:integer batch:text values:integer pending:integer sealed:integer pending_ms:integer sealed_ms:integer rest:integer rest_ms:integer dirty:integer
@cost    O(counters of the sealed batch)
]]

local partition = try(open_partition(keys.meta, ''))
local count, count_aside, count_sealed =
  redis.call('HLEN', keys.pending), redis.call('HLEN', keys.rest), redis.call('HLEN', keys.sealed)
-- Counters that are set aside are neither pending nor sealed.
local dirty = count + count_aside + count_sealed
if count_sealed > 0 then
  dirty = dirty - count_again(keys)
end
return {
  'seen',
  math.floor(clock_us() / 1000),
  partition.epoch,
  partition.seq,
  partition.batch,
  redis.call('HLEN', keys.values),
  count,
  count_sealed,
  partition.pending_ms,
  partition.sealed_ms,
  count_aside,
  partition.rest_ms,
  dirty,
}

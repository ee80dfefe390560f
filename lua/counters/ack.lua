--[[
Forgets the sealed batch, which is in SQL now, if it is this one. Counters with nothing pending stay for `retain_ms`.

@returns acked  more:flag
@returns stale
@cost    O(counters of the batch)
]]
local meta = KEYS[1] -- hash: what is known of the partition
local values = KEYS[2] -- hash: id -> value
local pending = KEYS[3] -- hash: id -> what is counted, and neither set aside nor sealed
local rest = KEYS[4] -- hash: id -> what was set aside when a seal began, and what has come to it since
local sealed = KEYS[5] -- hash: id -> what is sealed, and not known to be in SQL
local clean = KEYS[6] -- sorted set: id of a counter without pending or sealed increments -> until when it stays
local epoch = tonumber(ARGV[1]) -- integer: of the batch
local seq = tonumber(ARGV[2]) -- integer: number of the batch in it
local batch = ARGV[3] -- text: id of the batch
local retain_ms = tonumber(ARGV[4]) -- integer: how long a clean value stays; 0: for ever

local partition = open_partition(meta, '')
if partition.layout ~= COUNTERS_LAYOUT then
  return redis.error_reply('LAYOUT ' .. partition.layout)
end
if partition.epoch ~= epoch or partition.seq ~= seq or partition.batch ~= batch then
  return { 'stale' }
end
local now_ms = math.floor(clock_us() / 1000)
if retain_ms > 0 then
  for _, id in ipairs(redis.call('HKEYS', sealed)) do
    -- What is sealed is never in `rest`.
    if redis.call('HEXISTS', pending, id) == 0 then
      keep_clean(values, clean, id, now_ms + retain_ms)
    end
  end
end
redis.call('UNLINK', sealed)
-- Nothing of this may be refused by a server without memory: it frees.
redis.call('HDEL', meta, 'batch', 'sealed_ms')
partition.batch = ''
let_vanish(partition, values, clean, retain_ms)
return { 'acked', math.min(1, redis.call('EXISTS', rest, pending)) }

--[[
Removes the sealed batch, which is in SQL now, if it is this one. Counters without pending increments stay for
`retain_ms`.

@returns acked  more:flag
@returns stale
@cost    O(counters of the batch)
]]
local epoch = tonumber(ARGV[1]) -- integer: epoch of the batch
local seq = tonumber(ARGV[2]) -- integer: number of the batch in that epoch
local batch = ARGV[3] -- text: id of the batch
local retain_ms = tonumber(ARGV[4]) -- integer: how long a clean value stays; 0: forever

local partition = try(open_partition(keys.meta, ''))
if partition.epoch ~= epoch or partition.seq ~= seq or partition.batch ~= batch then
  return { 'stale' }
end
local now_ms = math.floor(clock_us() / 1000)
if retain_ms > 0 then
  for _, id in ipairs(redis.call('HKEYS', keys.sealed)) do
    -- A sealed counter is never in `rest`.
    if redis.call('HEXISTS', keys.pending, id) == 0 then
      keep_clean(keys.values, keys.clean, id, now_ms + retain_ms)
    end
  end
end
redis.call('UNLINK', keys.sealed)
-- A server out of memory must not reject these commands: they free memory.
redis.call('HDEL', keys.meta, 'batch', 'sealed_ms')
partition.batch = ''
let_vanish(keys, partition, retain_ms)
return { 'acked', math.min(1, redis.call('EXISTS', keys.rest, keys.pending)) }

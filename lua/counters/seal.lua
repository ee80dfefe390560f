--[[
Seals pending increments into a batch, which does not change until its ack. While a batch is sealed, the call returns
that batch: flushing it again has the same result. Increments that exceed a batch are all set aside and sealed before
any later ones, so that a flush comes to an end. Also evicts values that are due.

@returns sealed   now_ms:integer epoch:integer seq:integer batch:text sealed_ms:integer more:flag counters:[id:text delta:text]
@returns nothing
@returns unknown
@cost    O(counters of the batch), and at most 1,000 evictions
]]
local batch = ARGV[1] -- text: an id for the batch, if this call seals a new one
local limit = tonumber(ARGV[2]) -- integer: counters of a batch, 1 to 1,000

local partition = try(open_partition(keys.meta, ''))
if limit < 1 or limit > 1000 then
  return redis.error_reply('INVALID limit: must be 1 to 1000')
end
local now_ms = math.floor(clock_us() / 1000)
evict_due(keys.values, keys.clean, now_ms)
if partition.batch == '' then
  local waiting = redis.call('HLEN', keys.rest)
  local is_begun = waiting > 0
  if not is_begun then
    waiting = redis.call('HLEN', keys.pending)
  end
  if waiting == 0 then
    return { 'nothing' }
  end
  if partition.epoch == 0 then
    return { 'unknown' }
  end
  if not is_begun then
    partition.rest_ms, partition.pending_ms = partition.pending_ms, 0
  end
  partition.seq, partition.batch, partition.sealed_ms = partition.seq + 1, batch, partition.rest_ms
  if waiting <= limit then
    partition.rest_ms = 0
  end
  -- Writes that a server out of memory may reject come first.
  save_partition(keys.meta, partition)
  if not is_begun then
    redis.call('RENAME', keys.pending, keys.rest)
  end
  fill_batch(keys, limit)
end
return {
  'sealed',
  now_ms,
  partition.epoch,
  partition.seq,
  partition.batch,
  partition.sealed_ms,
  math.min(1, redis.call('EXISTS', keys.rest, keys.pending)),
  redis.call('HGETALL', keys.sealed),
}

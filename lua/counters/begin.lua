--[[
Gives a partition the epoch of a ledger in SQL that began for it. The partition stays as it is if it has left the epoch
that this one follows, or has acked the batch of this call: a caller that found the ledger past a batch may only have
been slow. Values have to be loaded again. `keep` says which increments stay: `all` if SQL went back, so that it has
none of them (but it may have the sealed batch, if the ledger ended with that); `pending` if the sealed batch is
uncertain, because the server has forgotten which one it was; `nothing` if the server came back with an old copy, so
that all of them are uncertain. A ledger that ended with a batch in the place of the sealed one, or beyond
it, shows such a copy. `lost` returns how many counters lost increments. `elsewhere`: the
current epoch belongs to a ledger in another place, of which this ledger knows nothing. Safe to repeat.

@returns begun  epoch:integer lost:integer
@returns known  epoch:integer
@returns elsewhere  ledger:text
@cost    O(counters of the sealed batch); Redis frees the memory in the background
]]
local epoch = tonumber(ARGV[1]) -- integer: epoch of the ledger
local known = tonumber(ARGV[2]) -- integer: the epoch before it; 0: none
local batch = ARGV[3] -- text: the sealed batch in question; empty: none
local keep = ARGV[4] -- text: all, pending or nothing
local ledger = ARGV[5] -- text: place of the ledger, as all processes name it; empty: unknown
local ended_seq = tonumber(ARGV[6]) -- integer: last batch of epoch `known` in the ledger, which has closed it; -1: unknown
local ended_batch = ARGV[7] -- text: id of that batch

local partition = try(open_partition(keys.meta, ''))
if keep ~= 'all' and keep ~= 'pending' and keep ~= 'nothing' then
  return redis.error_reply('INVALID keep: must be all, pending or nothing')
end
if partition.epoch ~= known or (batch ~= '' and partition.batch ~= batch) then
  return { 'known', partition.epoch }
end
local stands = redis.call('HGET', keys.meta, 'ledger') or ''
if known ~= 0 and stands ~= '' and ledger ~= '' and stands ~= ledger then
  return { 'elsewhere', stands }
end
local is_sealed = partition.batch ~= ''
local is_flushed = is_sealed and ended_seq == partition.seq and ended_batch == partition.batch
if keep == 'all' and not is_flushed and ended_seq > partition.seq - (is_sealed and 1 or 0) then
  keep = 'nothing'
end
local counted = keep == 'all' and not is_flushed and redis.call('HGETALL', keys.sealed) or {}
local lost = keep == 'all' and 0 or redis.call('HLEN', keys.sealed)
if keep == 'nothing' then
  lost = lost - count_again(keys) + redis.call('HLEN', keys.rest) + redis.call('HLEN', keys.pending)
  partition.pending_ms, partition.rest_ms = 0, 0
elseif #counted > 0 then
  partition.rest_ms = partition.sealed_ms
end
partition.epoch, partition.seq, partition.batch, partition.sealed_ms = epoch, 0, '', 0
-- Writes that a server out of memory may reject come first.
save_partition(keys.meta, partition)
if ledger ~= '' then
  redis.call('HSET', keys.meta, 'ledger', ledger)
end
for at = 1, #counted, 2 do
  local id = counted[at]
  redis.call('HINCRBY', keys.rest, id, counted[at + 1])
  -- Increments since then join it: a counter is in only one of the two hashes.
  local since = redis.call('HGET', keys.pending, id)
  if since and type(redis.pcall('HINCRBY', keys.rest, id, since)) ~= 'table' then
    redis.call('HDEL', keys.pending, id)
  end
end
if partition.pending_ms > 0 and redis.call('EXISTS', keys.pending) == 0 then
  partition.pending_ms = 0
  save_partition(keys.meta, partition)
end
if keep == 'nothing' then
  redis.call('UNLINK', keys.pending, keys.rest)
end
redis.call('UNLINK', keys.values, keys.sealed, keys.clean)
return { 'begun', epoch, lost }

--[[
A picture of a shard: how many values are here, how many counters have pending and sealed increments and such as were set
aside to be sealed (`rest`), and when the oldest of those came (0: there is none).

@reads
@returns seen  now_ms:integer epoch:integer seq:integer batch:text values:integer pending:integer sealed:integer pending_ms:integer sealed_ms:integer rest:integer rest_ms:integer
@cost    O(1)
]]
local meta = KEYS[1] -- hash: what is known of the shard
local values = KEYS[2] -- hash: id -> value
local pending = KEYS[3] -- hash: id -> what came after `rest` was set aside
local rest = KEYS[4] -- hash: id -> what was pending when a seal began, and is not sealed yet
local sealed = KEYS[5] -- hash: id -> what is sealed, and not known to be in SQL

-- @include shared/clock
-- @include shared/counters/shard

local shard = open_shard(meta, '')
if shard.layout ~= COUNTERS_LAYOUT then
  return redis.error_reply('LAYOUT ' .. shard.layout)
end
return {
  'seen',
  math.floor(clock_us() / 1000),
  shard.epoch,
  shard.seq,
  shard.batch,
  redis.call('HLEN', values),
  redis.call('HLEN', pending),
  redis.call('HLEN', sealed),
  shard.pending_ms,
  shard.sealed_ms,
  redis.call('HLEN', rest),
  shard.rest_ms,
}

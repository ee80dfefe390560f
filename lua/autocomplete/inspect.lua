--[[
Returns an overview of an index for people. `entries` includes those that have expired and are not reaped yet:
`expired`.

@returns inspection  codec:text entries:integer words:integer hot:integer expiring:integer expired:integer
@cost    O(log entries)
@reads
]]

local index = try(open_index(keys.meta, ''))
local now_ms = math.floor(clock_us() / 1000)
return {
  'inspection',
  index.codec,
  redis.call('HLEN', keys.entries),
  redis.call('ZCARD', keys.words),
  redis.call('ZLEXCOUNT', keys.forks, '-', '(\255'),
  redis.call('ZCARD', keys.expiry),
  redis.call('ZCOUNT', keys.expiry, '-inf', exact(now_ms)),
}

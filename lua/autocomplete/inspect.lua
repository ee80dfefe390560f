--[[
A picture of an index for people. `entries` counts those that have expired and are not reaped yet: `expired`.

@returns inspection  codec:text entries:integer words:integer hot:integer expiring:integer expired:integer
@cost    O(log entries)
@reads
]]

local index = open_index(keys.meta, '', '')
if index.layout ~= INDEX_LAYOUT then
  return redis.error_reply('LAYOUT ' .. index.layout)
end
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

--[[
Removes a value. A running load is revoked: its result will be rejected, because it began earlier. It keeps its lease
until it ends, so that never two loads run at once. Levels that may hold the value are notified. `existed`: the value
could still be served. Repeating the call has the same effect again.

@returns invalidated  existed:flag
@cost    O(1)
]]
local channel = ARGV[1] -- text: prefix of the channel of the levels
local sharded = ARGV[2] == '1' -- flag: whether it is a sharded channel

local head, known = try(open_entry(keys.value, keys.load))
-- First, so that the rest also works when the server is out of memory.
redis.call('UNLINK', keys.value)
-- The key outlives its value for a while.
local now_ms = math.floor(clock_us() / 1000)
local existed = head.stale_until_ms > now_ms and 1 or 0
local newest = math.max(head.token, known.token, known.floor)
revoke(keys.load, known, newest)
if newest > 0 then
  -- The token of an open load stays its own.
  local token = is_open(known) and known.token or newest
  local version = math.max(head.version, known.version)
  redis.call('HSET', keys.load, 'layout', LOAD_LAYOUT, 'token', exact(token), 'version', exact(version))
  keep_load(keys.load, newest, 0, now_ms)
end
if head.held then
  notify_levels(keys.value, newest + 1, { channel = channel, sharded = sharded })
end
return { 'invalidated', existed }

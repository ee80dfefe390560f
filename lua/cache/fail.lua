--[[
Gives up a load: it failed, or its caller does not know whether it won the election. Waiters are woken. They get the
reason when they ask for this load, if it has one and was not revoked; otherwise one of them is elected. The failure is
not cached: a later caller is elected at once, unless a value may be served. Repeating the call changes nothing.

@returns failed
@returns revoked
@returns lost
@cost    O(waiters)
]]
local id = ARGV[1] -- text: the caller's own id of the load
local rest_ms = tonumber(ARGV[2]) -- integer: how long no load begins while there is a value to serve
local how = ARGV[3] -- HOW: how waiters are notified
local reason = ARGV[6] -- text: for the waiters; empty: they try themselves

local known = try(open_load(keys.load))
if known.loader ~= id then
  return { 'lost' }
end
local revoked = is_revoked(known)
if is_open(known) then
  local now_ms = math.floor(clock_us() / 1000)
  -- First, so that the rest also works when the server is out of memory.
  redis.call('HDEL', keys.load, 'lease_ends_ms', 'waiters')
  if reason ~= '' and not revoked then
    redis.call(
      'HSET',
      keys.load,
      'failed',
      exact(known.token),
      'failure',
      reason,
      'resting_until_ms',
      exact(now_ms + rest_ms)
    )
  end
  keep_load(keys.load, known.token, rest_ms, now_ms)
  notify_waiters(known.waiters, 'ended', how)
end
if revoked then
  return { 'revoked' }
end
return { 'failed' }

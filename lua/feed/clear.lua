--[[
Deletes the feed, its subscribers and its dead letters. Redis frees the memory in the background.

@returns cleared  existed:flag
@cost    O(1)
]]
local channel = ARGV[1] -- text: channel of the waiters; empty: there are none
local sharded = ARGV[2] == '1' -- flag: whether that is a sharded channel

try(refusal_of_spread(keys.meta))
local all = {
  keys.meta,
  keys.log,
  keys.early,
  keys.bodies,
  keys.claimed,
  keys.leases,
  keys.returned,
  keys.work,
  keys.expiry,
  keys.delayed,
  keys.parked,
  keys.once,
  keys.subscribers,
  keys.guards,
  keys.dead_meta,
  keys.dead_log,
  keys.dead_early,
  keys.dead_bodies,
  keys.dead_claimed,
  keys.dead_leases,
  keys.dead_returned,
  keys.dead_work,
  keys.dead_expiry,
  keys.dead_delayed,
  keys.dead_parked,
  keys.dead_once,
  keys.dead_subscribers,
  keys.dead_guards,
}
local existed = 0
for _, key in ipairs(all) do
  existed = math.max(existed, redis.call('UNLINK', key))
end
wake(channel, sharded, 'cleared')
return { 'cleared', existed }

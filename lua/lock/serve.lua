--[[
Hands a lock that is free, or shared, to the first waiters in line that are alive.

@returns served  more:flag
@cost    O(log n), and at most 1,000 removals of leases that have ended and 500 of dead waiters
]]
local channel = ARGV[1] -- text: prefix of the channels of processes
local claim_ms = tonumber(ARGV[2] or 1000) -- integer: how long the next holder has to confirm a hand-off
local sharded = ARGV[3] == '1' -- flag: whether to use sharded channels
local counted = ARGV[4] ~= '0' -- flag: whether a channel without listeners means that its process is dead

local lock = try(open_lock(redis.call('GET', keys.state), clock_us()))
count_readers(keys, lock)
lapse(lock)
if lock.mode == 'x' or lock.last_ticket == 0 then
  return { 'served', 0 }
end
lock.claim_ms, lock.how = claim_ms, { channel = channel, sharded = sharded, counted = counted }
local served = serve_shared(keys, lock, '')
save_freed_lock(keys.state, lock)
return { 'served', served == 'more' and 1 or 0 }

--[[
Hands a lock that is free, or shared, to those who are first in line and alive.

@returns served  more:flag
@cost    O(log n), and at most 1,000 removals of leases that have ended and 500 of waiters that are gone
]]
local channel = ARGV[1] -- text: beginning of the channels of processes
local claim_ms = tonumber(ARGV[2] or 1000) -- integer: how long the next holder has to confirm
local sharded = ARGV[3] == '1' -- flag: whether those are sharded channels
local counted = ARGV[4] ~= '0' -- flag: whether the number of those who hear tells who is gone

local lock = try(open_lock(redis.call('GET', keys.state)))
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
count_readers(lock, keys.readers, keys.reader_ids, now_ms)
lapse(lock, now_ms)
if lock.mode == 'x' or lock.last_ticket == 0 then
  return { 'served', 0 }
end
local how = { channel = channel, sharded = sharded, counted = counted }
local served = serve_shared(lock, keys.queue, keys.readers, keys.reader_ids, '', claim_ms, now_us, how)
save_freed_lock(keys.state, lock, now_ms)
return { 'served', served == 'more' and 1 or 0 }

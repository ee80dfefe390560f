--[[
Hands a lock that is free to the first in line who is alive.

@returns served  more:flag
@cost    O(log waiting), and at most 500 removals of waiters that are gone
]]
local state = KEYS[1] -- string: the lock's state
local queue = KEYS[2] -- sorted set: ticket -> its number
local claim_ms = tonumber(ARGV[1]) -- integer: how long the next holder has to confirm
local channel = ARGV[2] -- text: beginning of the channels of processes
local sharded = ARGV[3] == '1' -- flag: whether those are sharded channels
local counted = ARGV[4] == '1' -- flag: whether the number of those who hear tells who is gone

-- @include shared/clock
-- @include shared/next-token
-- @include shared/tickets
-- @include shared/lock/state
-- @include shared/lock/grant
-- @include shared/lock/serve

local lock = open_lock(state)
if lock.layout ~= LOCK_LAYOUT then
  return redis.error_reply('LAYOUT ' .. lock.layout)
end
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
lapse(lock, now_ms)
if not is_free(lock) or lock.last_ticket == 0 then
  return { 'served', 0 }
end
local how = { channel = channel, sharded = sharded, counted = counted }
local served = serve(lock, queue, '', claim_ms, now_us, how)
save_freed_lock(state, lock, now_ms)
return { 'served', served == 'more' and 1 or 0 }

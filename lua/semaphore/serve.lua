--[[
Grants what is free to those who are first in line and alive. `more`: as `release`.

@returns served  more:flag
@cost    O(log n), at most 100 grants, and at most 1,000 removals of permits that have ended and 500 of waiters
         that are gone
]]
local channel = ARGV[1] -- text: beginning of the channels of processes
local claim_ms = tonumber(ARGV[2] or 1000) -- integer: how long they have to confirm
local sharded = ARGV[3] == '1' -- flag: whether those are sharded channels
local counted = ARGV[4] ~= '0' -- flag: whether the number of those who hear tells who is gone

local semaphore = try(open_semaphore(keys.state))
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local reaped = reap(semaphore, keys.permits, keys.ids, now_ms)
local served
if semaphore.last_ticket > 0 then
  local how = { channel = channel, sharded = sharded, counted = counted }
  served = serve(semaphore, keys.queue, keys.permits, keys.ids, '', claim_ms, now_us, how)
end
if served or reaped then
  save_freed_semaphore(keys.state, semaphore, now_ms)
end
return { 'served', served == 'more' and 1 or 0 }

--[[
Grants free weight to the first waiters in line that are alive. `more`: as `release`.

@returns served  more:flag
@cost    O(log n), at most 100 grants, and at most 1,000 removals of permits that have ended and 500 of dead
         waiters
]]
local channel = ARGV[1] -- text: prefix of the channels of processes
local claim_ms = tonumber(ARGV[2] or 1000) -- integer: how long they have to confirm a hand-off
local sharded = ARGV[3] == '1' -- flag: whether to use sharded channels
local counted = ARGV[4] ~= '0' -- flag: whether a channel without listeners means that its process is dead

local semaphore = try(open_semaphore(keys.state, clock_us()))
local reaped = reap(keys, semaphore)
local served
if semaphore.last_ticket > 0 then
  semaphore.claim_ms = claim_ms
  semaphore.how = { channel = channel, sharded = sharded, counted = counted }
  served = serve(keys, semaphore, '')
end
if served or reaped then
  save_freed_semaphore(keys, semaphore)
end
return { 'served', served == 'more' and 1 or 0 }

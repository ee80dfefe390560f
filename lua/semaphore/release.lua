--[[
Gives a permit back, and grants what is free to the first in line. `more`: something is free and somebody waits;
call `serve`.

@returns released  more:flag
@returns lost
@cost    O(log n), at most 100 grants, and at most 1,000 removals of permits that have ended and 500 of waiters
         that are gone
]]
local token = ARGV[1] -- text: proves the permit
local channel = ARGV[2] -- text: beginning of the channels of processes
local claim_ms = tonumber(ARGV[3] or 1000) -- integer: how long others have to confirm what they get now
local sharded = ARGV[4] == '1' -- flag: whether those are sharded channels
local counted = ARGV[5] ~= '0' -- flag: whether the number of those who hear tells who is gone

local semaphore = try(open_semaphore(keys.state, clock_us()))
local expires_at_ms = tonumber(redis.call('ZSCORE', keys.permits, token) or 0)
if expires_at_ms <= semaphore.now_ms then
  return { 'lost' }
end
end_permit(keys, semaphore, token, expires_at_ms)
reap(keys, semaphore)
local served
if semaphore.last_ticket > 0 then
  semaphore.claim_ms = claim_ms
  semaphore.how = { channel = channel, sharded = sharded, counted = counted }
  served = serve(keys, semaphore, '')
end
-- Behind a write that needs no memory.
save_semaphore(keys, semaphore)
return { 'released', served == 'more' and 1 or 0 }

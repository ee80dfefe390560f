--[[
Releases a permit, and grants free weight to the first in line. `more`: some weight is free and there are waiters; call
`serve`.

@returns released  more:flag
@returns lost
@cost    O(log n), at most 100 grants, and at most 1,000 removals of permits that have ended and 500 of dead
         waiters
]]
local token = ARGV[1] -- text: token of the permit
local channel = ARGV[2] -- text: prefix of the channels of processes
local claim_ms = tonumber(ARGV[3] or 1000) -- integer: how long waiters have to confirm a hand-off
local sharded = ARGV[4] == '1' -- flag: whether to use sharded channels
local counted = ARGV[5] ~= '0' -- flag: whether a channel without listeners means that its process is dead

local semaphore = try(open_semaphore(keys.state, clock_us()))
local expires_at_ms = tonumber(redis.call('ZSCORE', keys.permits, token) or 0)
if expires_at_ms <= semaphore.now_ms then
  return { 'lost' }
end
-- First: what it removes may be refused, and then the caller still has its permit.
reap(keys, semaphore)
local permit = end_permit(keys, semaphore, token, expires_at_ms)
local is_whole, served = true, 'none'
if semaphore.last_ticket > 0 then
  semaphore.claim_ms = claim_ms
  semaphore.how = { channel = channel, sharded = sharded, counted = counted, may_drop = true }
  -- A right that is missing for waiters must not reject the release: its caller would believe to hold what others can get.
  is_whole, served = pcall(function()
    return serve(keys, semaphore, '')
  end)
end
-- After a write that needs no memory.
if not semaphore.is_saved then
  save_without(keys, semaphore, token, expires_at_ms, permit)
end
return { 'released', (served == 'more' or not is_whole) and 1 or 0 }

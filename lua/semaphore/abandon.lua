--[[
Ends an attempt that its owner gave up: it leaves the line, or loses its permit. Free weight is then granted to the
first in line. `more`: as `release`.

@returns abandoned  more:flag
@cost    O(log n), at most 100 grants, and at most 1,000 removals of permits that have ended and 500 of dead
         waiters
]]
local id = ARGV[1] -- text: the attempt, '<process>.<number>'
local holder = ARGV[2] -- text: name of its holder, for people
local weight = tonumber(ARGV[3]) -- integer: weight of its permit
local lease_ms = tonumber(ARGV[4]) -- integer: length of the lease that it asked for
local channel = ARGV[5] -- text: prefix of the channels of processes
local listens = ARGV[6] == '1' -- flag: whether its process listens on its channel
local claim_ms = tonumber(ARGV[7] or 1000) -- integer: how long waiters have to confirm a hand-off
local sharded = ARGV[8] == '1' -- flag: whether to use sharded channels
local counted = ARGV[9] ~= '0' -- flag: whether a channel without listeners means that its process is dead

local semaphore = try(open_semaphore(keys.state, clock_us()))
local ticket = new_ticket(id, 'x', lease_ms, listens, weight, holder)
local own, other = format_ticket(ticket), other_text(ticket)
local rank = semaphore.last_ticket > 0
  and (redis.call('ZRANK', keys.queue, own) or redis.call('ZRANK', keys.queue, other))
if rank then
  redis.call('ZREM', keys.queue, own, other)
end
-- First, as in release.
local reaped = reap(keys, semaphore)
local token, ends_at_ms = permit_of(keys, id)
if token then
  local permit = end_permit(keys, semaphore, token, ends_at_ms)
  save_without(keys, semaphore, token, ends_at_ms, permit)
end
local served
if semaphore.last_ticket > 0 and (rank == 0 or token or reaped) then
  semaphore.claim_ms = claim_ms
  semaphore.how = { channel = channel, sharded = sharded, counted = counted }
  served = serve(keys, semaphore, '')
end
if (served or reaped) and not semaphore.is_saved then
  save_freed_semaphore(keys, semaphore)
end
return { 'abandoned', served == 'more' and 1 or 0 }

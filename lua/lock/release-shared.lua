--[[
Ends the lease of one reader; the last reader hands the lock to the first in line. `more`: the lock is free and has
waiters; call `serve`.

@returns released  more:flag
@returns lost
@cost    O(log n), and at most 1,000 removals of leases that have ended and 500 of dead waiters
]]
local token = ARGV[1] -- text: token of the lease
local channel = ARGV[2] -- text: prefix of the channels of processes
local claim_ms = tonumber(ARGV[3] or 1000) -- integer: how long the next holder has to confirm a hand-off
local sharded = ARGV[4] == '1' -- flag: whether to use sharded channels
local counted = ARGV[5] ~= '0' -- flag: whether a channel without listeners means that its process is dead

local lock = try(open_lock(redis.call('GET', keys.state), clock_us()))
local expires_at_ms = tonumber(redis.call('ZSCORE', keys.readers, token) or 0)
if lock.mode ~= 's' or expires_at_ms <= lock.now_ms then
  return { 'lost' }
end
-- What a missing right refuses below is tried before: the caller of a refused release believes to hold.
redis.call('ZRANGEBYSCORE', keys.readers, '-inf', '-inf', 'LIMIT', '0', '1')
redis.call('ZRANGE', keys.readers, '-1', '-1')
forget_reader(keys, token)
count_readers(keys, lock)
if lock.mode ~= 's' then
  lock.mode = '-'
end
local is_whole, served = true, 'none'
if is_free(lock) and lock.last_ticket > 0 then
  lock.claim_ms, lock.how = claim_ms, { channel = channel, sharded = sharded, counted = counted }
  -- A right that is missing for waiters must not reject the release: its caller would believe to hold what others can get.
  is_whole, served = pcall(function()
    return serve_shared(keys, lock, '')
  end)
end
save_freed_lock(keys.state, lock)
return { 'released', (served == 'more' or not is_whole) and 1 or 0 }

--[[
Releases the lock, and hands it to the first in line. Safe to repeat until the lock has another holder; after that the
token is unknown, and the answer is `lost`. `more`: the lock is free and has waiters; call `serve`.

@returns released  more:flag
@returns lost
@cost    O(log waiting), and at most 500 removals of dead waiters
]]
local token = ARGV[1] -- text: token of the lease
local channel = ARGV[2] -- text: prefix of the channels of processes
local claim_ms = tonumber(ARGV[3] or 1000) -- integer: how long the next holder has to confirm a hand-off
local sharded = ARGV[4] == '1' -- flag: whether to use sharded channels
local counted = ARGV[5] ~= '0' -- flag: whether a channel without listeners means that its process is dead

-- Offset of the mode in the state.
local MODE_AT = '2'

local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local stored = redis.call('GET', keys.state)
if is_quickly_given_back(stored, token, now_ms) then
  -- A full server rejects this; the slow path first performs a write that needs no memory.
  local saved = redis.pcall('SETRANGE', keys.state, MODE_AT, '-')
  if type(saved) == 'number' then
    return { 'released', 0 }
  end
end

-- There are waiters, or the lease has changed.

local lock = try(open_lock(stored, now_us))
if lock.token ~= token or lock.mode == 's' then
  return { 'lost' }
end
if lock.mode == '-' then
  return { 'released', lock.last_ticket > 0 and 1 or 0 }
end
if not is_held(lock) then
  return { 'lost' }
end
lock.mode = '-'
lock.expires_at_ms = 0
if lock.last_ticket == 0 then
  save_freed_lock(keys.state, lock)
  return { 'released', 0 }
end

lock.claim_ms, lock.how = claim_ms, { channel = channel, sharded = sharded, counted = counted }
-- A right that is missing for waiters must not reject the release: its caller would believe to hold what others can get.
local is_whole, served = pcall(function()
  return serve(keys, lock, '')
end)
if not lock.is_saved then
  save_freed_lock(keys.state, lock)
end
return { 'released', (served == 'more' or not is_whole) and 1 or 0 }

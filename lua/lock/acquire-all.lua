--[[
Grants several locks of one slot to one holder, all or none, when each of them is free and has no waiters. Safe to
repeat: an attempt that holds them all gets the same answer again. `awaited`: the lock at this place is free but has a
waiter, which may be dead; call `serve`.

@returns granted  now_ms:integer leases:[token:integer expires_at_ms:integer]
@returns held     at:integer
@returns awaited  at:integer
@cost    O(locks)
]]
local states, states_at = KEYS, 1 -- repeated string: states of the locks
local id = ARGV[1] -- text: the attempt, '<process>.<number>'
local holder = ARGV[2] -- text: name of its holder, for people
local lease_ms = tonumber(ARGV[3]) -- integer: length of their leases

local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local locks, mine = {}, 0
for at = states_at, #states, 1 do
  local lock = try(open_lock(redis.call('GET', states[at]), now_us))
  if lock.id == id and lock.mode == '-' then
    return redis.error_reply('INVALID id: this attempt has given a lock back')
  end
  if lock.id == id and lock.mode == 'x' and is_held(lock) then
    mine = mine + 1
  end
  lapse(lock)
  locks[at] = lock
end
if mine < #locks then
  for at, lock in ipairs(locks) do
    if not is_free(lock) then
      return { 'held', at - 1 }
    elseif lock.last_ticket > 0 then
      return { 'awaited', at - 1 }
    end
  end
end
local leases = {}
for at, lock in ipairs(locks) do
  if mine < #locks then
    grant(lock, id, holder, new_token(lock), now_ms + lease_ms)
    save_lock(states[at], lock)
  end
  leases[2 * at - 1] = tonumber(lock.token)
  leases[2 * at] = lock.expires_at_ms
end
return { 'granted', now_ms, leases }

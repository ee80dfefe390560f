--[[
Renews leases, of one lock or of several in one slot. A lease that has ended is never revived: its `expires_at_ms` is 0.
Each is handled on its own: `refused` lists places (counted from 0) of locks that cannot be read, and the reason.

@returns extended  now_ms:integer leases:[expires_at_ms:integer] refused:[at:integer why:text]
@cost    O(leases)
]]
local state, state_at = KEYS, 1 -- repeated string: the state of each lock
local leases, leases_at = ARGV, 1 -- repeated (token:integer lease_ms:integer): one for each lock

local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local locks, refused = {}, {}
for at = state_at, #state, 1 do
  local open = function()
    return read_lock(redis.call('GET', state[at]), now_us)
  end
  local known, why = try_open(open, LOCK_LAYOUT)
  locks[at] = known or false
  if not known then
    refused[#refused + 1] = at - 1
    refused[#refused + 1] = why
  end
end
local ends = {}
for at = leases_at, #leases, #LEASES do
  local place = (at - leases_at) / #LEASES + 1
  local lock = locks[place]
  ends[place] = 0
  if lock and lock.mode == 'x' and lock.token == leases[at + LEASES.token] and is_held(lock) then
    lock.expires_at_ms = now_ms + leases[at + LEASES.lease_ms]
    ends[place] = lock.expires_at_ms
    save_freed_lock(state[place], lock)
  end
end
return { 'extended', now_ms, ends, refused }

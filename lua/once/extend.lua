--[[
Renews attempts, counted from now: one token and one lease for each key, in order. An attempt whose lease has expired,
or that has ended otherwise, is never revived: its `expires_at_ms` is 0. Each key is handled on its own: `refused` lists
places (counted from 0) of keys that cannot be read, and the reason.

@returns extended  now_ms:integer leases:[expires_at_ms:integer] refused:[at:integer why:text]
@cost    O(keys)
]]
local state, state_at = KEYS, 1 -- repeated hash: all data of each key
local leases, leases_at = ARGV, 1 -- repeated (token:integer lease_ms:integer): one for each key

local now_ms = math.floor(clock_us() / 1000)
local found, refused = {}, {}
for at = state_at, #state, 1 do
  local open = function()
    return read_once(state[at])
  end
  local known, why = try_open(open, ONCE_LAYOUT)
  found[at] = known or false
  if not known then
    refused[#refused + 1] = at - 1
    refused[#refused + 1] = why
  end
end
local ends = {}
for at = leases_at, #leases, #LEASES do
  local place = (at - leases_at) / #LEASES + 1
  local known = found[place]
  ends[place] = 0
  if known and holds_token(known, tonumber(leases[at + LEASES.token])) and is_running(known, now_ms) then
    ends[place] = now_ms + leases[at + LEASES.lease_ms]
    local kept_until_ms = ends[place] + known.kept_until_ms - known.lease_ends_ms
    -- First, so that it also works when the server is out of memory.
    keep_until(state[place], known.token, kept_until_ms, now_ms)
    redis.call(
      'HSET',
      state[place],
      'lease_ends_ms',
      exact(ends[place]),
      'kept_until_ms',
      exact(kept_until_ms)
    )
  end
end
return { 'extended', now_ms, ends, refused }

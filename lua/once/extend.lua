--[[
Makes attempts last longer, counted from now: one token and one lease for each key, in order. One whose
lease has lapsed, or that has ended otherwise, is never brought back: its `expires_at_ms` is 0.

@returns extended  now_ms:integer leases:[expires_at_ms:integer]
@cost    O(keys)
]]
local state, state_at = KEYS, 1 -- repeated hash: all that is known of each key
local leases, leases_at = ARGV, 1 -- repeated (token:integer lease_ms:integer): one for each key

-- @include shared/exact
-- @include shared/clock
-- @include shared/once/state
-- @include shared/once/keep

local now_ms = math.floor(clock_us() / 1000)
local found = {}
for at = state_at, #state do
  found[at] = open_state(state[at])
  if found[at].layout ~= ONCE_LAYOUT then
    return redis.error_reply('LAYOUT ' .. found[at].layout)
  end
end
local ends = {}
for at = leases_at, #leases, 2 do
  local place = (at - leases_at) / 2 + 1
  local known = found[place]
  ends[place] = 0
  if holds_token(known, tonumber(leases[at])) and is_running(known, now_ms) then
    ends[place] = now_ms + leases[at + 1]
    local kept_until_ms = ends[place] + known.kept_until_ms - known.lease_ends_ms
    -- First, so that it also works when the server is out of memory.
    keep_until(state[place], kept_until_ms, now_ms)
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
return { 'extended', now_ms, ends }

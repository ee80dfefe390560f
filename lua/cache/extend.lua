--[[
Makes loads last longer, counted from now: one token and one lease for each key, in order. One that has lapsed,
ended, or was revoked is not extended: its `expires_at_ms` is 0. A revoked one keeps what is left of its lease, so
that its loader can stop before another begins.

@returns extended  now_ms:integer leases:[expires_at_ms:integer]
@cost    O(keys)
]]
local load, load_at = KEYS, 1 -- repeated hash: the load lease of each key
local leases, leases_at = ARGV, 1 -- repeated (token:integer lease_ms:integer): one for each key

-- @include shared/exact
-- @include shared/clock
-- @include shared/cache/load
-- @include shared/cache/keep-load

local now_ms = math.floor(clock_us() / 1000)
local found = {}
for at = load_at, #load do
  found[at] = open_load(load[at])
  if found[at].layout ~= LOAD_LAYOUT then
    return redis.error_reply('LAYOUT ' .. found[at].layout)
  end
end
local ends = {}
for at = leases_at, #leases, 2 do
  local place = (at - leases_at) / 2 + 1
  local known = found[place]
  ends[place] = 0
  if known.token == tonumber(leases[at]) and known.lease_ends_ms > now_ms and not is_revoked(known) then
    ends[place] = now_ms + leases[at + 1]
    -- First, so that it also works when the server is out of memory.
    keep_load(load[place], ends[place] - now_ms)
    redis.call('HSET', load[place], 'lease_ends_ms', exact(ends[place]))
  end
end
return { 'extended', now_ms, ends }

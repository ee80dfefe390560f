--[[
Renews load leases, counted from now: one token and one lease for each key, in order. A load that has expired, ended, or
was revoked is not extended: its `expires_at_ms` is 0. A revoked load keeps the rest of its lease, so that its loader
can stop before another begins. Each key is handled on its own: `refused` lists places (counted from 0) of keys that
cannot be read, and the reason.

@returns extended  now_ms:integer leases:[expires_at_ms:integer] refused:[at:integer why:text]
@cost    O(keys)
]]
local load, load_at = KEYS, 1 -- repeated hash: the load lease of each key
local leases, leases_at = ARGV, 1 -- repeated (token:integer lease_ms:integer): one for each key

local now_ms = math.floor(clock_us() / 1000)
local found, refused = {}, {}
for at = load_at, #load, 1 do
  local open = function()
    return read_load(load[at])
  end
  local known, why = try_open(open, LOAD_LAYOUT)
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
  local is_live = known and known.lease_ends_ms > now_ms and not is_revoked(known)
  if is_live and known.token == tonumber(leases[at + LEASES.token]) then
    ends[place] = now_ms + leases[at + LEASES.lease_ms]
    -- First, so that it also works when the server is out of memory.
    keep_load(load[place], 0, ends[place] - now_ms, now_ms)
    redis.call('HSET', load[place], 'lease_ends_ms', exact(ends[place]))
  end
end
return { 'extended', now_ms, ends, refused }

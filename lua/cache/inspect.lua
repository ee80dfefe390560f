--[[
Returns an overview of a key. Its state is fresh, stale or absent by the server's clock, whatever happened to its tags;
`tags` holds them with their generations as the head does. `loading` is the token of the current load, 0: none.

@returns inspection  state:text created_at_ms:integer load_ms:integer fresh_until_ms:integer stale_until_ms:integer token:integer version:integer flags:integer bytes:integer codec:text tags:bytes loading:integer lease_ends_ms:integer now_ms:integer
@cost    O(1)
@reads
]]

local head, known = try(open_entry(keys.value, keys.load))
local now_ms = math.floor(clock_us() / 1000)
local loads = known.lease_ends_ms > now_ms
local loading = loads and known.token or 0
local lease_ends_ms = loads and known.lease_ends_ms or 0
local version = math.max(known.version, head.version)
if head.stale_until_ms <= now_ms then
  return { 'inspection', 'absent', 0, 0, 0, 0, 0, version, 0, 0, '', '', loading, lease_ends_ms, now_ms }
end
return {
  'inspection',
  head.fresh_until_ms > now_ms and 'fresh' or 'stale',
  head.created_at_ms,
  head.load_ms,
  head.fresh_until_ms,
  head.stale_until_ms,
  head.token,
  version,
  head.flags,
  redis.call('STRLEN', keys.value),
  head.codec,
  head.tags,
  loading,
  lease_ends_ms,
  now_ms,
}

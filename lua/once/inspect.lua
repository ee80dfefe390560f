--[[
Returns an overview of a key. Its state is free, running, lapsed (the lease of the attempt has expired, and no other has
taken over yet) or finished. For a free key only the token is valid: that of its last attempt, if known.

@returns inspection  state:text token:integer fingerprint:text expires_at_ms:integer kept_until_ms:integer bytes:integer codec:text now_ms:integer
@cost    O(1)
@reads
]]

local known = try(open_once(keys.state))
local now_ms = math.floor(clock_us() / 1000)
if not counts(known, now_ms) then
  return { 'inspection', 'free', known.token, '', 0, 0, 0, '', now_ms }
end
local word = known.result and 'finished' or is_running(known, now_ms) and 'running' or 'lapsed'
return {
  'inspection',
  word,
  known.token,
  known.fingerprint,
  known.lease_ends_ms,
  known.kept_until_ms,
  known.result and #known.result or 0,
  known.codec,
  now_ms,
}

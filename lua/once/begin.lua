--[[
Begins an attempt at a key, unless the key has a result (or had one that its caller could not keep), another attempt is
running, or the key came with another request. An attempt whose lease has expired is taken over, with a greater token.
Repeating the call with the same id returns the same attempt, and does not renew its lease; after that attempt has been
released, its id cannot be used again.

@returns started   token:integer expires_at_ms:integer now_ms:integer
@returns replayed  token:integer result:bytes
@returns unkept    token:integer
@returns conflict
@returns running   retry_after_ms:integer
@returns lost      token:integer
@cost    O(1)
]]
local codec = ARGV[1] -- text: name of the codec that makes the results
local id = ARGV[2] -- text: the caller's own id of the attempt
local fingerprint = ARGV[3] -- text: fingerprint of the request; empty: none
local lease_ms = tonumber(ARGV[4]) -- integer: how long the attempt may take
local result_ttl_ms = tonumber(ARGV[5]) -- integer: how long to remember the request after the lease

local known = try(open_once(keys.state))
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
if counts(known, now_ms) then
  if known.codec ~= codec then
    return redis.error_reply('CODEC ' .. known.codec)
  end
  if known.fingerprint ~= fingerprint then
    return { 'conflict' }
  end
  if known.result and not known.kept then
    return { 'unkept', known.token }
  end
  if known.result then
    return { 'replayed', known.token, known.result }
  end
  if is_running(known, now_ms) then
    if known.attempt == id then
      return { 'started', known.token, known.lease_ends_ms, now_ms }
    end
    return { 'running', known.lease_ends_ms - now_ms }
  end
elseif known.attempt == id and known.lease_ends_ms == 0 then
  -- A late copy of a call that has settled: it must not block the key.
  return { 'lost', known.token }
end
local token = next_token(known.token, now_us)
local lease_ends_ms = now_ms + lease_ms
local kept_until_ms = lease_ends_ms + result_ttl_ms
if known.result then
  -- The old state is removed before it would become valid again, but not if a server out of memory begins nothing.
  redis.call('HSET', keys.state, 'layout', ONCE_LAYOUT)
  redis.call('HDEL', keys.state, 'result', 'unkept')
end
redis.call(
  'HSET',
  keys.state,
  'layout',
  ONCE_LAYOUT,
  'codec',
  codec,
  'token',
  exact(token),
  'attempt',
  id,
  'fingerprint',
  fingerprint,
  'lease_ends_ms',
  exact(lease_ends_ms),
  'kept_until_ms',
  exact(kept_until_ms)
)
keep_until(keys.state, token, kept_until_ms, now_ms)
return { 'started', token, lease_ends_ms, now_ms }

--[[
Stores the result of a load, wakes its waiters, and notifies the levels that may hold the earlier value. The call is
refused when the load is not the newest one, was given up, or began before an invalidation or a set: then the lease is
released and nothing is written. The newest load may store even when its lease has expired, because no other load has
begun. Repeating the call changes nothing.

@returns stored      fresh_until_ms:integer stale_until_ms:integer now_ms:integer
@returns lost
@returns revoked
@returns superseded  version:integer
@cost    O(value + waiters)
]]
local codec = ARGV[1] -- text: name of the codec that made the payload
local token = tonumber(ARGV[2]) -- integer: token of the load
local version = tonumber(ARGV[3]) -- integer: version of the value; refused below a known greater one; 0: none
local flags = tonumber(ARGV[4]) -- integer: 0 there is a payload, 1 there is nothing (null), 2 (undefined); 4 more: levels may hold it
local load_ms = tonumber(ARGV[5]) -- integer: how long the load took
local ttl_ms = tonumber(ARGV[6]) -- integer: how long the value is fresh
local stale_while_revalidate_ms = tonumber(ARGV[7]) -- integer: how long to serve it after that
local how = ARGV[8] -- HOW: how waiters are notified
local tags = ARGV[11] -- bytes: its tags and their generations before the load, as the head has them
local payload = ARGV[12] -- bytes: the payload

local head, known = try(open_entry(keys.value, keys.load))
local now_ms = math.floor(clock_us() / 1000)
if token > 0 and head.token == token and not is_open(known) then
  return { 'stored', head.fresh_until_ms, head.stale_until_ms, now_ms }
end
if known.token ~= token or not is_open(known) then
  return { 'lost' }
end
if is_revoked(known) then
  close_load(keys.load, known, 'ended', how)
  return { 'revoked' }
end
local newest = math.max(known.version, head.version)
if version > 0 and version < newest then
  close_load(keys.load, known, 'ended', how)
  return { 'superseded', newest }
end
local fresh_until_ms, stale_until_ms = keep_value(keys.value, {
  codec = codec,
  flags = flags,
  tags = tags,
  token = token,
  version = math.max(version, newest),
  load_ms = load_ms,
  ttl_ms = ttl_ms,
  stale_while_revalidate_ms = stale_while_revalidate_ms,
}, payload, now_ms)
close_load(keys.load, known, 'stored', how)
if head.held then
  notify_levels(keys.value, token, how)
end
-- The token is in the head. The hash vanishes with its last field, unless the clock is behind the token for longer than
-- the value lives.
if behind_ms(token, now_ms) <= stale_until_ms - now_ms then
  redis.call('HDEL', keys.load, 'layout', 'token')
end
return { 'stored', fresh_until_ms, stale_until_ms, now_ms }

--[[
Sets a value without a load. A version that is not greater than the greatest known one is refused. A running load is
revoked: its result may be older. Its waiters are woken, and levels that may hold the earlier value are notified.

@returns stored      fresh_until_ms:integer stale_until_ms:integer now_ms:integer
@returns superseded  version:integer
@cost    O(value + waiters)
]]
local codec = ARGV[1] -- text: name of the codec that made the payload
local call_id = ARGV[2] -- CALL_ID: of this call; see shared/calls
local version = tonumber(ARGV[4]) -- integer: version of the value; 0: none, never refused
local flags = tonumber(ARGV[5]) -- integer: 0 there is a payload, 1 there is nothing (null), 2 (undefined); 4 more: levels may hold it
local ttl_ms = tonumber(ARGV[6]) -- integer: how long the value is fresh
local stale_while_revalidate_ms = tonumber(ARGV[7]) -- integer: how long to serve it after that
local how = ARGV[8] -- HOW: how waiters are notified
local tags = ARGV[11] -- bytes: its tags and their generations, as the head has them
local payload = ARGV[12] -- bytes: the payload

local head, known = try(open_entry(keys.value, keys.load))
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local before = try(recall(redis.call('HGET', keys.load, call_id.caller), call_id))
if before then
  local fresh_until_ms, stale_until_ms, newest = string.match(before, '^(%d+) (%d+) (%d+)$')
  if fresh_until_ms == '0' then
    return { 'superseded', tonumber(newest) }
  end
  return { 'stored', tonumber(fresh_until_ms), tonumber(stale_until_ms), now_ms }
end
local newest = math.max(known.version, head.version)
if version > 0 and version <= newest then
  remember_answer(keys.load, call_id, now_ms, '0 0 ' .. exact(newest))
  keep_load(keys.load, 0, 0, now_ms)
  return { 'superseded', newest }
end
local token = next_token(math.max(known.token, known.floor, head.token), now_us)
local fresh_until_ms, stale_until_ms = keep_value(keys.value, {
  codec = codec,
  flags = flags,
  tags = tags,
  token = token,
  version = math.max(version, newest),
  load_ms = 0,
  ttl_ms = ttl_ms,
  stale_while_revalidate_ms = stale_while_revalidate_ms,
}, payload, now_ms)
revoke(keys.load, known, token)
if version > 0 then
  redis.call('HSET', keys.load, 'version', exact(version))
end
remember_answer(keys.load, call_id, now_ms, exact(fresh_until_ms) .. ' ' .. exact(stale_until_ms) .. ' 0')
-- The token is in the head; where the clock is behind it for longer than the value lives, here as well.
if behind_ms(token, now_ms) > ttl_ms + stale_while_revalidate_ms and not is_open(known) then
  redis.call('HSET', keys.load, 'layout', LOAD_LAYOUT, 'token', exact(token))
end
keep_load(keys.load, token, ttl_ms + stale_while_revalidate_ms, now_ms)
if known.waiters ~= '' then
  redis.call('HDEL', keys.load, 'waiters')
  notify_waiters(known.waiters, 'stored', how)
end
if head.held then
  notify_levels(keys.value, token, how)
end
return { 'stored', fresh_until_ms, stale_until_ms, now_ms }

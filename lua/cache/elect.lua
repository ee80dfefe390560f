--[[
Elects one caller to load a value, when it may serve no stored value, or when the caller rejects the one it has seen.
Every other caller gets the token of the load, and is woken when the load ends, if it waits. A loader whose lease has
expired is replaced. Repeating the call with the same id returns the same election.

@returns elected  token:integer expires_at_ms:integer now_ms:integer
@returns found    now_ms:integer envelope:bytes
@returns loading  token:integer retry_after_ms:integer now_ms:integer
@returns failed   now_ms:integer reason:text
@returns resting  retry_after_ms:integer now_ms:integer
@cost    O(value)
]]
local id = ARGV[1] -- text: the caller's own id of this load
local codec = ARGV[2] -- text: name of the codec that makes the payload
local lease_ms = tonumber(ARGV[3]) -- integer: how long the load may take without an extension
local seen = tonumber(ARGV[4]) -- integer: token of the value that the caller rejects; 0: it has seen none
local waited = tonumber(ARGV[5]) -- integer: token of the load that the caller waited for; 0: none
local waits = ARGV[6] == '1' -- flag: whether the caller waits, for a notification under its id
local tags = ARGV[7] -- bytes: its tags and their generations, as the head has them

-- A longer list of waiters takes no more of them: these poll.
local LONGEST_WAITERS = 16000
local UNTOLD_MS = 250

local head, known = try(open_entry(keys.value, keys.load))
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local served = may_serve(head, tags, now_ms)
if served and head.codec ~= codec then
  return redis.error_reply('CODEC ' .. head.codec)
end
if served and head.token ~= seen then
  return { 'found', now_ms, redis.call('GET', keys.value) }
end
if known.lease_ends_ms > now_ms then
  if known.loader == id then
    return { 'elected', known.token, known.lease_ends_ms, now_ms }
  end
  local left_ms = known.lease_ends_ms - now_ms
  if waits and not string.find(known.waiters, id .. ' ', 1, true) then
    if #known.waiters >= LONGEST_WAITERS then
      return { 'loading', known.token, math.min(left_ms, UNTOLD_MS), now_ms }
    end
    redis.call('HSET', keys.load, 'waiters', known.waiters .. id .. ' ')
  end
  return { 'loading', known.token, left_ms, now_ms }
end
if waited > 0 and known.failed == waited then
  return { 'failed', now_ms, known.failure }
end
if served and known.resting_until_ms > now_ms then
  return { 'resting', known.resting_until_ms - now_ms, now_ms }
end
local token = next_token(math.max(known.token, known.floor, head.token), now_us)
local lease_ends_ms = now_ms + lease_ms
redis.call(
  'HSET',
  keys.load,
  'layout',
  LOAD_LAYOUT,
  'token',
  exact(token),
  'loader',
  id,
  'lease_ends_ms',
  exact(lease_ends_ms)
)
redis.call('HDEL', keys.load, 'floor', 'failed', 'failure', 'resting_until_ms')
keep_load(keys.load, token, lease_ms, now_ms)
return { 'elected', token, lease_ends_ms, now_ms }

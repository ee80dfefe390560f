--[[
Stores the result of an attempt: from now on the key replays it. The newest attempt may do so even when its lease has
expired, however long ago, because no other attempt has begun; one that was taken over or released may not. Without a
result that could be kept, the key is completed all the same, and no attempt begins again. Repeating the call changes
nothing, except that a result may follow if none was kept.

@returns completed  kept_until_ms:integer
@returns lost
@cost    O(1)
]]
local codec = ARGV[1] -- text: name of the codec that made the result
local token = tonumber(ARGV[2]) -- integer: token of the attempt
local result_ttl_ms = tonumber(ARGV[3]) -- integer: how long to keep the result
local channel = ARGV[4] -- text: channel of the callers that wait for the result; empty: there are none
local sharded = ARGV[5] == '1' -- flag: whether that is a sharded channel
local result = ARGV[6] -- bytes: the result
local kept = ARGV[7] ~= '0' -- flag: whether the caller could keep the result

local known = try(open_once(keys.state))
local now_ms = math.floor(clock_us() / 1000)
if not holds_token(known, token) or not (is_open(known) or counts(known, now_ms)) then
  return { 'lost' }
end
if known.codec ~= codec then
  return redis.error_reply('CODEC ' .. known.codec)
end
if known.result and (known.kept or not kept) then
  return { 'completed', known.kept_until_ms }
end
local kept_until_ms = now_ms + result_ttl_ms
-- First, so that it also works when the server is out of memory: the task has been done.
keep_until(keys.state, token, kept_until_ms, now_ms)
redis.call('HSET', keys.state, 'result', result, 'kept_until_ms', exact(kept_until_ms))
if kept and not known.kept then
  redis.call('HDEL', keys.state, 'unkept')
elseif not kept then
  redis.call('HSET', keys.state, 'unkept', '1')
end
wake(channel, sharded, 'completed')
return { 'completed', kept_until_ms }

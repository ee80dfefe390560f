--[[
Removes a key with all its data. A running attempt is lost. Tokens keep rising, even if the clock has stepped back.

@returns cleared  existed:flag
@cost    O(1)
]]
local channel = ARGV[1] -- text: channel of the callers that wait for the key; empty: there are none
local sharded = ARGV[2] == '1' -- flag: whether that is a sharded channel

local known = redis.pcall('HMGET', keys.state, 'layout', 'token')
local existed, token, kept_ms = 1, nil, 0
if known[1] == '1' then
  token, kept_ms = token_to_leave(tonumber(known[2]), math.floor(clock_us() / 1000))
end
if token then
  -- The key is not removed first: a node that is moving the slot away would take it for one that has already moved.
  for _, field in ipairs(redis.call('HKEYS', keys.state)) do
    if field ~= 'layout' and field ~= 'token' then
      redis.call('HDEL', keys.state, field)
    end
  end
  redis.call('PEXPIRE', keys.state, kept_ms)
  redis.call('HSET', keys.state, 'token', token)
else
  existed = redis.call('UNLINK', keys.state)
end
wake(channel, sharded, 'cleared')
return { 'cleared', existed }

--[[
Ends an attempt without a result: the key is free again, for any request. An attempt that was completed
stays so. Repeating the call changes nothing.

@returns released
@returns completed
@returns lost
@cost    O(1)
]]
local token = tonumber(ARGV[1]) -- integer: token of the attempt
local channel = ARGV[2] -- text: channel of the callers that wait for the key; empty: there are none
local sharded = ARGV[3] == '1' -- flag: whether that is a sharded channel

local known = try(open_once(keys.state))
if not holds_token(known, token) then
  return { 'lost' }
end
if known.result then
  return { 'completed' }
end
if known.lease_ends_ms == 0 then
  return { 'released' }
end
free_key(keys.state, token, math.floor(clock_us() / 1000))
wake(channel, sharded, 'released')
return { 'released' }

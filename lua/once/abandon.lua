--[[
Frees a key from an orphaned attempt: the answer to its `begin` never arrived, or a late copy of that call began it
again. All other data of the key stays, and so does the attempt under `token`, which its owner holds. Repeating the call
changes nothing.

@returns abandoned
@cost    O(1)
]]
local id = ARGV[1] -- text: the caller's own id of the attempt
local token = tonumber(ARGV[2]) -- integer: token of the attempt that its owner holds; 0: none
local channel = ARGV[3] -- text: channel of the callers that wait for the key; empty: there are none
local sharded = ARGV[4] == '1' -- flag: whether that is a sharded channel

local known = try(open_once(keys.state))
if known.attempt == id and known.token ~= token and is_open(known) then
  free_key(keys.state, known.token, math.floor(clock_us() / 1000))
  wake(channel, sharded, 'released')
end
return { 'abandoned' }

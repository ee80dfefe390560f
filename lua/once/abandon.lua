--[[
Frees a key from an attempt that nobody has: the answer to its `begin` never came, or a late copy of that call began it anew. What
else is known of the key stays as it is, and so does the attempt under `token`, which its owner has. Repeating the call changes nothing.

@returns abandoned
@cost    O(1)
]]
local id = ARGV[1] -- text: the caller's own id of the attempt
local token = tonumber(ARGV[2]) -- integer: of the attempt that its owner has; 0: none
local channel = ARGV[3] -- text: where those wait who want the key; empty: nobody waits
local sharded = ARGV[4] == '1' -- flag: whether that is a sharded channel

local known = try(open_once(keys.state))
if known.attempt == id and known.token ~= token and is_open(known) then
  free_key(keys.state, known.token, math.floor(clock_us() / 1000))
  wake(channel, sharded, 'released')
end
return { 'abandoned' }

--[[
Forgets all that is known of a key. An attempt under way is lost.

@returns cleared  existed:flag
@cost    O(1)
]]
local state = KEYS[1] -- hash: all that is known of the key
local channel = ARGV[1] -- text: where those wait who want the key; empty: nobody waits
local sharded = ARGV[2] == '1' -- flag: whether that is a sharded channel

-- @include shared/wake

local existed = redis.call('UNLINK', state)
wake(channel, sharded, 'cleared')
return { 'cleared', existed }

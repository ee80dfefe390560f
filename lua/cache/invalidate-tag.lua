--[[
Invalidates all values with this tag, in every slot, by a new generation of the tag. Readers reject values that were
loaded under an older generation, and levels are notified. A cache as a whole is a tag, too. Repeating the call has the
same effect again.

@returns invalidated  generation:integer
@cost    O(1)
]]
local channel = ARGV[1] -- text: prefix of the channel of the levels
local sharded = ARGV[2] == '1' -- flag: whether it is a sharded channel

-- Longer than any value with tags lives; without its key a tag has generation 0 again.
local TAG_KEPT_MS = '5184000000'

local newest = next_token(tonumber(redis.call('GET', keys.generation) or 0), clock_us())
redis.call('SET', keys.generation, exact(newest), 'PX', TAG_KEPT_MS)
notify_levels(keys.generation, newest, { channel = channel, sharded = sharded })
return { 'invalidated', newest }

--[[
Makes all values with this tag count no more, in every slot, by a new generation of the tag: what was loaded under
an older one is refused by whoever reads. Repeating the call does the same again.

@returns invalidated  generation:integer
@cost    O(1)
]]
local generation = KEYS[1] -- string: the newest generation of the tag

-- @include shared/exact
-- @include shared/clock
-- @include shared/next-token

-- Longer than any value with tags lives; without its key a tag has generation 0 again.
local TAG_KEPT_MS = '5184000000'

local newest = next_token(tonumber(redis.call('GET', generation) or 0), clock_us())
redis.call('SET', generation, exact(newest), 'PX', TAG_KEPT_MS)
return { 'invalidated', newest }

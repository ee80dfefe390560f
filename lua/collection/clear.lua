--[[
Forgets a collection and its items. A replace that is being built stays, and may be switched in afterwards.

@returns cleared  existed:flag
@cost    O(1); the items are freed in the background
]]
local meta = KEYS[1] -- hash: all that is known of the collection but its items
local items = KEYS[2] -- list, set, hash or sorted set: the items, as its kind has them

local existed = redis.call('UNLINK', meta)
redis.call('UNLINK', items)
return { 'cleared', existed }

--[[
Removes a collection and its items. A replace that is being built stays, and may be switched in afterwards.

@returns cleared  existed:flag
@cost    O(1); Redis frees the items in the background
]]

local existed = redis.call('UNLINK', keys.meta)
redis.call('UNLINK', keys.items)
return { 'cleared', existed }

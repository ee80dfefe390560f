--[[
Forgets a subject: nothing is taken, nobody holds a place.

@returns cleared  existed:flag
@cost    O(1)
]]
local state = KEYS[1] -- hash: what counts for the subject

return { 'cleared', redis.call('UNLINK', state) }

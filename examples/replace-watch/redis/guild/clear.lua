--[[
Removes all members.

@returns cleared
@cost    O(1), and O(members) in the background
]]
local members = KEYS[1] -- sorted set: the members, all with the score 0, so in the order of their bytes

redis.call('UNLINK', members)
return { 'cleared' }

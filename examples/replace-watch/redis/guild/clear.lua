--[[
Removes all members.

@returns cleared
@cost    O(1), and O(members) in the background
]]

redis.call('UNLINK', keys.members)
return { 'cleared' }

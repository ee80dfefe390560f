--[[
A picture of a partition whose counts are in SQL: which version of it is shown, how many values are here, and how many counters
have notes.

@reads
@returns seen  version:integer values:integer noted:integer
@cost    O(1)
]]

local state = try(open_board(keys.board))
return { 'seen', state.version, redis.call('HLEN', keys.shown), redis.call('HLEN', keys.noted) }

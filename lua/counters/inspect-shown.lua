--[[
Returns an overview of a partition whose counts are in SQL: the shown version, the number of values, and the number of
counters with notes.

@reads
@returns seen  version:integer values:integer noted:integer
@cost    O(1)
]]

local state = try(open_board(keys.board))
return { 'seen', state.version, redis.call('HLEN', keys.shown), redis.call('HLEN', keys.noted) }

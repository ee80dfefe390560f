--[[
A picture of a partition whose counts are in SQL: which version of it is shown, how many values are here, and how many counters
have notes.

@reads
@returns seen  version:integer values:integer noted:integer
@cost    O(1)
]]
local board = KEYS[1] -- hash: what is known of a partition whose counts are in SQL
local shown = KEYS[2] -- hash: id -> what is shown
local noted = KEYS[3] -- hash: id -> what was noted since SQL was read

local state = open_board(board)
if state.layout ~= BOARD_LAYOUT then
  return redis.error_reply('LAYOUT ' .. state.layout)
end
return { 'seen', state.version, redis.call('HLEN', shown), redis.call('HLEN', noted) }

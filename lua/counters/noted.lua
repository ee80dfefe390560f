--[[
Begins a round: tells counters that have notes, with the sums of these, and how far the partition is. Whatever was noted by now
is in SQL for whoever reads it later. Also evicts values that are due. Safe to repeat.

@returns noted  turn:integer version:integer more:flag counters:[id:text sum:text]
@cost    O(limit), and at most 1,000 evictions
]]
local board = KEYS[1] -- hash: what is known of a partition whose counts are in SQL
local shown = KEYS[2] -- hash: id -> what is shown
local noted = KEYS[3] -- hash: id -> what was noted since SQL was read
local idle = KEYS[4] -- sorted set: id of a counter without notes -> until when it stays
local limit = tonumber(ARGV[1]) -- integer: counters, 1 to 1,000

-- @include shared/exact
-- @include shared/clock
-- @include shared/counters/board
-- @include shared/counters/retention

local state = open_board(board)
if state.layout ~= BOARD_LAYOUT then
  return redis.error_reply('LAYOUT ' .. state.layout)
end
if limit < 1 or limit > 1000 then
  return redis.error_reply('INVALID limit: must be 1 to 1000')
end
evict_due(shown, idle, math.floor(clock_us() / 1000))
local more = redis.call('HLEN', noted) > limit
local counters = more and redis.call('HRANDFIELD', noted, exact(limit), 'WITHVALUES')
  or redis.call('HGETALL', noted)
return { 'noted', state.turn, state.version, more and 1 or 0, counters }

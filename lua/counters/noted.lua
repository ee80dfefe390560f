--[[
Begins a round: tells counters that have notes, with the sums of these, and how far the partition is. Whatever was noted by now
is in SQL for whoever reads it later. The cursor is 0 again after as many pages as tell all that had notes at the first of them,
whatever is noted and settled meanwhile; what the server keeps in one piece (`hash-max-listpack-entries`) is one page. Also
evicts values that are due. `ahead` where values are shown that were read at a later version, of which `newest` is the last: SQL that
is asked after this and has not come so far has come back with an old copy. `elsewhere`: what is shown comes from another place in SQL.
Safe to repeat.

@returns noted  turn:integer version:integer cursor:text counters:[id:text sum:text]
@returns ahead  newest:integer turn:integer version:integer cursor:text counters:[id:text sum:text]
@returns elsewhere place:text
@cost    O(limit), and at most 1,000 evictions
]]
local limit = tonumber(ARGV[1]) -- integer: counters, about, 1 to 1,000
local cursor = ARGV[2] -- text: of the page before; 0: the first
local place = ARGV[3] -- text: where the counts are in SQL, as all processes call it; empty: nobody can tell

local state = try(open_board(keys.board))
if limit < 1 or limit > 1000 then
  return redis.error_reply('INVALID limit: must be 1 to 1000')
end
local other = other_place(keys.board, place)
if other then
  return { 'elsewhere', other }
end
evict_due(keys.shown, keys.idle, math.floor(clock_us() / 1000))
-- Behind a restart or a failover it begins anew.
local page = redis.call('HSCAN', keys.noted, cursor_of(cursor) or '0', 'COUNT', exact(limit))
local next_cursor = place_of(page[1])
if state.newest > 0 then
  return { 'ahead', state.newest, state.turn, state.version, next_cursor, page[2] }
end
return { 'noted', state.turn, state.version, next_cursor, page[2] }

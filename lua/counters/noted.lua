--[[
Begins a round: returns counters that have notes, with the sums of these, and the state of the partition. Every change
noted by now is visible to a later read of SQL. The cursor is 0 again after enough pages for all counters that had notes
at the first page, whatever is noted and settled meanwhile. A hash that the server keeps in one piece
(`hash-max-listpack-entries`) is one page. Also evicts values that are due. `ahead`: some values were read at a later
version, the last of which is `newest`. If SQL, read after this, has not reached it, SQL has come back with an old copy.
`elsewhere`: the shown values come from another place in SQL. Safe to repeat.

@returns noted  turn:integer version:integer cursor:text counters:[id:text sum:text]
@returns ahead  newest:integer turn:integer version:integer cursor:text counters:[id:text sum:text]
@returns elsewhere place:text
@cost    O(limit), and at most 1,000 evictions
]]
local limit = tonumber(ARGV[1]) -- integer: counters, about, 1 to 1,000
local cursor = ARGV[2] -- text: from the previous page; 0: the first page
local place = ARGV[3] -- text: place of the counts in SQL, as all processes name it; empty: unknown

local state = try(open_board(keys.board))
if limit < 1 or limit > 1000 then
  return redis.error_reply('INVALID limit: must be 1 to 1000')
end
local other = other_place(keys.board, place)
if other then
  return { 'elsewhere', other }
end
evict_due(keys.shown, keys.idle, math.floor(clock_us() / 1000))
-- After a restart or a failover the scan starts over.
local page = redis.call('HSCAN', keys.noted, cursor_of(cursor) or '0', 'COUNT', exact(limit))
local next_cursor = place_of(page[1])
if state.newest > 0 then
  return { 'ahead', state.newest, state.turn, state.version, next_cursor, page[2] }
end
return { 'noted', state.turn, state.version, next_cursor, page[2] }

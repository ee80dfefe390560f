--[[
Removes up to 100 entries that have expired. Every call that writes removes some. This operation serves a query that
cannot see past all of them, and an index that is only read. With a query, entries that hide its matches are removed
first. `more`: there may be others.

@returns reaped  more:flag
@cost    as `remove` for 100 entries, for a query 200, and for as many units of work; with `fuzzy` as `suggest`, too
]]
local query = ARGV[1] -- text: the folded query that needs others; empty: the first to expire go first
local fuzzy = ARGV[2] == '1' -- flag: whether it also matches with one edit

local index = try(open_index(keys.meta, ''))
try_rights(keys.meta, index, keys)
local known = open_tops(index.last_top)
local now_ms = math.floor(clock_us() / 1000)
local prefix = string.sub(query, 1, MOST_BYTES)
local more = query ~= '' and unhide(keys, known, (match_exactly(keys, prefix, 200)), now_ms)
if fuzzy and not more then
  more = unhide(keys, known, (match_nearby(keys, prefix)), now_ms)
end
if not more then
  more = reap(keys, known, now_ms, 100)
end
renew_fronts(keys, known, index.codec)
write_tops(keys.tops, known)
return { 'reaped', more and 1 or 0 }

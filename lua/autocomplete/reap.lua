--[[
Removes up to 100 entries that have expired. Every call that writes removes some; this is for a query that
cannot see past all of them, and for an index that is read only. Of a query those go first that hide what it asks for. `more`: there
may be others.

@returns reaped  more:flag
@cost    as `remove` for 100 entries, for a query 200, and for as many units of work; with `fuzzy` as `suggest`, too
]]
local meta = KEYS[1] -- hash: the state of the index, and the last call of every slot
local entries = KEYS[2] -- hash: number of an entry -> all that is stored of it
local ids = KEYS[3] -- hash: id of an entry -> its number
local words = KEYS[4] -- sorted set: folded text from a word start on, a zero byte, and the entry's place; no scores
local tops = KEYS[5] -- hash: number of a top -> its head, and of each of its leaves -> places of first entries
local expiry = KEYS[6] -- sorted set: number of an entry -> when it expires, in ms
local fronts = KEYS[7] -- hash: number of a top -> what its first entries are answered as
local forks = KEYS[8] -- sorted set: prefix of many words up to where they part, zero byte, number of its top
local query = ARGV[1] -- text: the folded query that asks for others; empty: those that expired first go first
local fuzzy = ARGV[2] == '1' -- flag: whether it asks for those with one edit, too

local index = open_index(meta, '', '')
if index.layout ~= INDEX_LAYOUT then
  return redis.error_reply('LAYOUT ' .. index.layout)
end
local keys = {
  entries = entries,
  ids = ids,
  words = words,
  tops = tops,
  expiry = expiry,
  fronts = fronts,
  forks = forks,
}
try_rights(meta, index, keys)
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
write_tops(tops, known)
return { 'reaped', more and 1 or 0 }

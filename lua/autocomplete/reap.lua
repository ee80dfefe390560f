--[[
Removes up to 100 entries that have expired. Every call that writes removes some; this is for a query that
cannot see past all of them, and for an index that is read only. `more`: there may be others.

@returns reaped  more:flag
@cost    as `remove` for 100 entries
]]
local meta = KEYS[1] -- hash: the state of the index, and the last call of every slot
local entries = KEYS[2] -- hash: number of an entry -> all that is stored of it
local ids = KEYS[3] -- hash: id of an entry -> its number
local words = KEYS[4] -- sorted set: folded text from a word start on, a zero byte, and the entry's place; no scores
local tops = KEYS[5] -- hash: prefix that many words begin with -> places of its first entries
local expiry = KEYS[6] -- sorted set: number of an entry -> when it expires, in ms
local fronts = KEYS[7] -- hash: prefix that many words begin with -> what its first entries are answered as

-- @include shared/exact
-- @include shared/clock
-- @include shared/autocomplete/index
-- @include shared/autocomplete/place
-- @include shared/autocomplete/record
-- @include shared/autocomplete/suffixes
-- @include shared/autocomplete/best
-- @include shared/autocomplete/tops
-- @include shared/autocomplete/ranges
-- @include shared/autocomplete/hot
-- @include shared/autocomplete/fronts
-- @include shared/autocomplete/refill
-- @include shared/autocomplete/leave

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
}
local changed = {}
local more = reap(keys, changed, math.floor(clock_us() / 1000), 100)
renew_fronts(keys, index.codec, changed)
return { 'reaped', more and 1 or 0 }

--[[
Adds entries, each in the place of the one with its id, or replaces it: text, score, payload and expiry. A
repeated call changes nothing and is answered alike. `replaced`: those that were there, and had not expired.

@returns added  added:integer replaced:integer
@cost    O(log words) for each of the 8 words of an entry at most, and of the 64 prefixes of each those that
         more than 32 words begin with: a list of 200 places, and once a call the records of its first ten
         where one of them changes. Once for 100 removals of the first entries of such a prefix, as `remove`
]]
local meta = KEYS[1] -- hash: the state of the index, and the last call of every slot
local entries = KEYS[2] -- hash: number of an entry -> all that is stored of it
local ids = KEYS[3] -- hash: id of an entry -> its number
local words = KEYS[4] -- sorted set: folded text from a word start on, a zero byte, and the entry's place; no scores
local tops = KEYS[5] -- hash: prefix that many words begin with -> places of its first entries
local expiry = KEYS[6] -- sorted set: number of an entry -> when it expires, in ms
local fronts = KEYS[7] -- hash: prefix that many words begin with -> what its first entries are answered as
local codec = ARGV[1] -- text: name of the codec that made the payloads
local caller = ARGV[2] -- text: process and slot; empty: the call is not remembered
local call = ARGV[3] -- text: number of the call in that slot
local added, added_at = ARGV, 4 -- repeated (id:text text:text marked:text score:integer expire_ms:integer payload:bytes): marked: the folded text, with \1 before each word start but the first; expire_ms 0: never

-- @include shared/exact
-- @include shared/clock
-- @include shared/calls
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
-- @include shared/autocomplete/enter

local index = open_index(meta, codec, caller)
if index.layout ~= INDEX_LAYOUT then
  return redis.error_reply('LAYOUT ' .. index.layout)
end
if index.codec ~= codec then
  return redis.error_reply('CODEC ' .. index.codec)
end
local remembered, superseded = recall(index.record, call)
if superseded then
  return redis.error_reply('INVALID call: a later one has taken its slot')
end
if remembered then
  local new, replaced = string.match(remembered, '^(%d+) (%d+)$')
  return { 'added', tonumber(new), tonumber(replaced) }
end
local now_ms = math.floor(clock_us() / 1000)
local keys = {
  entries = entries,
  ids = ids,
  words = words,
  tops = tops,
  expiry = expiry,
  fronts = fronts,
}
local changed = {}
local new, replaced = 0, 0
for at = added_at, #added, 6 do
  local expire_ms = tonumber(added[at + 4])
  local entry = {
    id = added[at],
    text = added[at + 1],
    marked = added[at + 2],
    rank = rank_of(added[at + 3]),
    expires_at_ms = expire_ms > 0 and now_ms + expire_ms or 0,
    payload = added[at + 5],
  }
  if enter_entry(keys, changed, index, entry, now_ms) then
    replaced = replaced + 1
  else
    new = new + 1
  end
end
redis.call('HSET', meta, 'layout', INDEX_LAYOUT, 'codec', codec, 'last', exact(index.last))
reap(keys, changed, now_ms, 20)
renew_fronts(keys, index.codec, changed)
remember_answer(meta, caller, call, now_ms, new .. ' ' .. replaced)
return { 'added', new, replaced }

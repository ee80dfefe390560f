--[[
Returns the first entries that match a query: one of their words starts with it. They are sorted by score, the greatest
first, and at equal scores by age, the oldest first. With `fuzzy`, entries that match with one edit follow in the same
order: they are `edited`. `short`: expired entries hide some; reap, then query again. `front`: as in `find`.

@returns suggested  short:flag front:text suggestions:[id:text text:text score:integer payload:bytes edited:flag]
@cost    O(log words + limit) where more than 32 words match, else it reads up to 200 words. With `fuzzy` and too few
         others as much as finding the first place for each character of the query and each of the 64 first that may
         follow, 4,000 words of prefixes of few words, and 200 places
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local query = ARGV[2] -- text: the folded query; empty: all match
local limit = tonumber(ARGV[3] or 10) -- integer: how many to return, up to 100
local fuzzy = ARGV[4] == '1' -- flag: whether the query may hold one edit

try(refusal_of_index(keys.meta, codec))
local prefix = string.sub(query, 1, MOST_BYTES)
local found, fields, is_short, front = search(keys, prefix, limit)
local exact = #found
if fuzzy and not is_short and exact < limit then
  local others = {}
  for _, field in ipairs(fields) do
    others[field] = true
  end
  local nearby, more = match_nearby(keys, prefix)
  collect(keys.entries, nearby, found, limit, others)
  is_short = more and #found < limit
end
return { 'suggested', is_short and 1 or 0, front, show(found, exact) }

--[[
Like `suggest`, but returns the stored form of the records, which costs server and client half the time: see
shared/autocomplete/index. The first `exact` entries match without an edit, the following ones with one edit. `front`:
the field of `fronts` that holds the first ten for as long as it names the query; empty if none.

@returns found  short:flag exact:integer front:text records:[record:bytes]
@cost    as `suggest`
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
return { 'found', is_short and 1 or 0, exact, front, found }

--[[
Shows counters that are not shown yet, with their values in SQL at a version of it. `taken` is the sum of the notes of
each before it was read. Notes stay, and the next round reads these counters again. `retry`: SQL was read too early,
because a later version is shown. Returns the shown value of each. Also evicts values that are due. `elsewhere`: the
shown values come from another place in SQL. Safe to repeat.

@returns shown  values:[value:text]
@returns retry  version:integer
@returns elsewhere place:text
@cost    O(counters), and at most 1,000 evictions
]]
local version = tonumber(ARGV[1]) -- integer: version of SQL
local turn = tonumber(ARGV[2]) -- integer: turn of the notes
local retain_ms = tonumber(ARGV[3]) -- integer: how long a value without notes stays; 0: forever
local place = ARGV[4] -- text: place of the counts in SQL, as all processes name it; empty: unknown
local counters, counters_at = ARGV, 5 -- repeated (id:text value:text taken:text): at most 1,000

local state = try(open_board(keys.board))
if (#counters - counters_at + 1) / #COUNTERS > 1000 then
  return redis.error_reply('INVALID counters: must be at most 1000 a call')
end
local other = other_place(keys.board, place)
if other then
  return { 'elsewhere', other }
end
if version < state.version or version < state.showing then
  return { 'retry', math.max(state.version, state.showing) }
end
local now_us = clock_us()
-- A caller that reads more than rounds evict would fill the server. Without rounds, shown values have to be read again.
evict_due(keys.shown, keys.idle, math.floor(now_us / 1000))
local knows = turn == state.turn
if state.turn == 0 then
  state.turn = now_us
end
if version > state.version then
  state.newest = math.max(state.newest, version)
end
-- Writes that a server out of memory may reject come first.
save_board(keys.board, state)
if place ~= '' then
  redis.call('HSET', keys.board, 'place', place)
end
local due_ms = retain_ms > 0 and math.floor(now_us / 1000) + retain_ms or 0
local values = {}
for at = counters_at, #counters, #COUNTERS do
  local id, value, taken =
    counters[at + COUNTERS.id], counters[at + COUNTERS.value], counters[at + COUNTERS.taken]
  local known = redis.call('HGET', keys.shown, id)
  if not known then
    known = put(keys, id, value, knows and taken or nil, due_ms)
    if version > state.version then
      redis.call('HSET', keys.ahead, id, exact(version))
    end
  end
  values[#values + 1] = known
end
let_board_vanish(keys, retain_ms)
return { 'shown', values }

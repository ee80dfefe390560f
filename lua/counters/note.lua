--[[
Notes changes that are in SQL. The shown value moves at once, and the next round reads these counters again. Returns the
shown values in the given order; null for counters that are not shown. A change noted twice is shown wrong until that
round. So it is sent once, and may be lost, too.

@returns noted  values:[value:text?]
@cost    O(counters)
]]
local counters, counters_at = ARGV, 1 -- repeated (id:text by:text): at most 1,000

local state = try(open_board(keys.board))
if (#counters - counters_at + 1) / #COUNTERS > 1000 then
  return redis.error_reply('INVALID counters: must be at most 1000 a call')
end
if state.turn == 0 then
  state.turn = clock_us()
  save_board(keys.board, state)
end
if redis.call('EXISTS', keys.noted) == 0 then
  redis.call('PERSIST', keys.board)
  redis.call('PERSIST', keys.shown)
  redis.call('PERSIST', keys.idle)
  redis.call('PERSIST', keys.ahead)
end
local values = {}
for at = counters_at, #counters, #COUNTERS do
  values[#values + 1] = note(keys, counters[at + COUNTERS.id], counters[at + COUNTERS.by]) or false
end
return { 'noted', values }

--[[
Returns the shown values, in the order of the ids; null for values to read from SQL, and then also the sum of their
notes.

@reads
@returns told  turn:integer values:[value:text?] noted:[sum:text?]
@cost    O(counters)
]]
local ids, ids_at = ARGV, 1 -- repeated (id:text): at most 1,000

local state = try(open_board(keys.board))
if #ids - ids_at >= 1000 then
  return redis.error_reply('INVALID ids: must be at most 1000 a call')
end
local values = redis.call('HMGET', keys.shown, unpack(ids))
for at = 1, #values do
  if not values[at] then
    return { 'told', state.turn, values, redis.call('HMGET', keys.noted, unpack(ids)) }
  end
end
return { 'told', state.turn, values, {} }

--[[
Compares the caller's place of the counts in SQL with that of the counters. `elsewhere`: they have another one. In the
unit of the name alone, the first caller to `begin` decides, and later ones add what was unknown. Partitions, which know
at most the location, only compare. `unknown`: the unit does not know all that the caller names. `agreed_us` says when
place or number of partitions was last stored, for `disband`: a caller that names nothing asks for it. Safe to repeat.

@returns agreed  agreed_us:text
@returns unknown
@returns elsewhere location:text target:text
@cost    O(1)
]]
local location = ARGV[1] -- text: database and schema, as all processes name them; empty: unknown
local target = ARGV[2] -- text: tables and columns, as all processes name them; empty: unknown
local begin = ARGV[3] == '1' -- flag: whether to store what was unknown

local known = redis.call('HMGET', keys.meta, 'ledger', 'target', 'agreed_us')
local there, tables = known[1] or redis.call('HGET', keys.board, 'place') or '', known[2] or ''
local agreed_us = known[3] or ''
if
  (there ~= '' and location ~= '' and there ~= location)
  or (tables ~= '' and target ~= '' and tables ~= target)
then
  return { 'elsewhere', there, tables }
end
local knows_all = (there ~= '' or location == '') and (tables ~= '' or target == '')
if not knows_all then
  if not begin then
    return { 'unknown' }
  end
  there, tables = there ~= '' and there or location, tables ~= '' and tables or target
  agreed_us = exact(clock_us())
  redis.call('HSET', keys.meta, 'ledger', there, 'target', tables, 'agreed_us', agreed_us)
end
return { 'agreed', agreed_us }

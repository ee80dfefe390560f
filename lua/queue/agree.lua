--[[
Fixes the number of partitions of a partitioned queue, in the unit of its name alone. `other` returns the number that is
already fixed, 0 for a queue without partitions; `unknown`: none is fixed, and the call was not to `begin`. After all
partitions are cleared, the caller may `disband` with `agreed_us`. Safe to repeat.

@returns agreed  agreed_us:text
@returns other  partitions:integer
@returns unknown
@cost    O(1)
]]
local partitions = tonumber(ARGV[1]) -- integer: number of partitions of the queue
local begin = ARGV[2] == '1' -- flag: whether the caller is about to use a partition: this fixes the number

local known, agreed_us = known_number(keys.meta)
if known and known ~= partitions then
  return { 'other', known }
end
if begin then
  agreed_us = exact(clock_us())
  agree_on(keys.meta, partitions, agreed_us)
elseif not known then
  return { 'unknown' }
end
return { 'agreed', agreed_us }

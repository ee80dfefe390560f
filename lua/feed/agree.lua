--[[
Agrees upon the number of partitions of a feed that is spread, in the unit of its name alone. `other` tells the number it has,
0 for one that is not spread; `unknown`: it has not begun, and was not to `begin`. With `agreed_us` whoever clears all partitions
may `disband` it then. Safe to repeat.

@returns agreed  agreed_us:text
@returns other  partitions:integer
@returns unknown
@cost    O(1)
]]
local partitions = tonumber(ARGV[1]) -- integer: over how many the feed is spread
local begin = ARGV[2] == '1' -- flag: whether a partition is about to be used: the number is known from now on

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

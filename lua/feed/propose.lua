--[[
Announces that the caller is about to use a partition for the first time, and returns a proof. Then the number of
partitions is agreed in the unit of the feed's name alone (`agree`). Only then the partition is used, with the proof. A
partition in use is `agreed` already. A proposal that is not used expires after a minute.

@returns proposed  proof:text
@returns agreed
@cost    O(1)
]]
local partitions = tonumber(ARGV[1]) -- integer: number of partitions of the feed

local feed = try(open_feed(keys.meta, '', nil, partitions))
if feed.partitions > 0 then
  return { 'agreed' }
end
return { 'proposed', propose(keys.meta, FEED_LAYOUT, exact(clock_us())) }

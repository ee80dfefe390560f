--[[
Announces that the caller is about to use a partition for the first time, and returns a proof. Then the number of
partitions is agreed in the unit of the queue's name alone (`agree`). Only then the partition is used, with the proof. A
partition in use is `agreed` already. A proposal that is not used expires after a minute.

@returns proposed  proof:text
@returns agreed
@cost    O(1)
]]
local partitions = tonumber(ARGV[1]) -- integer: number of partitions of the queue

local queue = try(open_queue(keys.meta, nil, partitions))
if queue.partitions > 0 then
  return { 'agreed' }
end
return { 'proposed', propose(keys.meta, QUEUE_LAYOUT, exact(clock_us())) }

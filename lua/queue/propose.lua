--[[
Says that a partition is about to be used for the first time, and answers with what proves it. Then the number of partitions
is agreed upon in the unit of the queue's name alone (`agree`), and only then the partition is used, with the proof. A
partition that is in use already is `agreed` upon. A proposal that nobody takes up is gone after a minute.

@returns proposed  proof:text
@returns agreed
@cost    O(1)
]]
local partitions = tonumber(ARGV[1]) -- integer: over how many the queue is spread

local queue = try(open_queue(keys.meta, nil, partitions))
if queue.partitions > 0 then
  return { 'agreed' }
end
return { 'proposed', propose(keys.meta, QUEUE_LAYOUT, exact(clock_us())) }

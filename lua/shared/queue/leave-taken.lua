-- Those that are leased leave their places. Without the right to take them from the list they leave their numbers behind, as ghosts.
local function leave_taken(keys, queue, taken)
  if #taken.prioritized > 0 then
    redis.call('ZREM', keys.prioritized, unpack(taken.prioritized))
  end
  if taken.passed > 0 and redis.pcall('LTRIM', keys.ready, string.format('%d', taken.passed), '-1').err then
    queue.ghosts = math.max(queue.ghosts, taken.ghosts) + taken.listed
  end
end

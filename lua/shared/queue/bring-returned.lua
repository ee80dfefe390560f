-- Jobs that were lost or released while the queue had none with a priority or a group stand at the front of the list,
-- which is not served first any more. As many as are wanted go where such jobs stand since then: before all priorities.
local function bring_returned(keys, queue, count)
  local ghosts = queue.ghosts
  local looked = math.min(queue.ghosts, MOST_GHOSTS) + count
  local numbers = redis.call('LRANGE', keys.ready, '0', string.format('%d', looked - 1))
  local stored = #numbers > 0 and redis.call('HMGET', keys.jobs, unpack(fields_of(numbers)))
  local returned, seen, passed = {}, {}, 0
  for at, seq in ipairs(numbers) do
    local record, packed = stored[at * 2 - 1], stored[at * 2]
    local stands = not seen[seq] and stands_in_list(record, packed)
    if stands and (#returned == count * 2 or not packed or unpack_run(packed).state ~= 'b') then
      break
    elseif stands then
      returned[#returned + 1] = IN_FRONT
      returned[#returned + 1] = seq
      seen[seq] = true
    else
      queue.ghosts = math.max(0, queue.ghosts - 1)
    end
    passed = at
  end
  if #returned > 0 then
    set_mark(queue, PRIORITIES)
    redis.call('ZADD', keys.prioritized, unpack(returned))
  end
  if passed > 0 and redis.pcall('LTRIM', keys.ready, string.format('%d', passed), '-1').err then
    -- They leave their numbers behind.
    queue.ghosts = ghosts + #returned / 2
    return
  end
  -- Behind the first other one there are none.
  if #returned < count * 2 and (passed < #numbers or #numbers < looked) then
    queue.marks = queue.marks - RETURNED
  end
end

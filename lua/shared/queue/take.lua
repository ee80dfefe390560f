-- Takes ready jobs: those with a priority above 0 first, then the list and the groups in turn, then those below 0. The
-- result is a flat list of number, record and packed run (false: none); its `seen` are the numbers that it has, because
-- the list may have one of them twice. Jobs of the list and of the priorities keep their places until they are leased:
-- it has `passed` so many entries of the list, and `prioritized` are the numbers of the others; see shared/queue/lease.
-- One call skips so many ghosts, and groups without a job, however many turns it takes: `more_ghosts`, `more_empty` are
-- left.
local MOST_GHOSTS = 1000
local MOST_EMPTY = 100

local function is_ready(packed)
  return not packed or string.find(packed, '^[rb]') ~= nil
end

-- Whether an entry of the list is its job's place; if not, it is a ghost.
local function stands_in_list(record, packed)
  if not record or not is_ready(packed) then
    return false
  elseif string.byte(record) > 0 then
    return true
  end
  local job = read_job(record)
  return job.group == '' and job.priority == 0
end

local function take_listed(keys, queue, count, taken)
  local seen = taken.seen
  while count > 0 and taken.more_ghosts > 0 do
    local from = taken.passed
    local numbers =
      redis.pcall('LRANGE', keys.ready, string.format('%d', from), string.format('%d', from + count - 1))
    if numbers.err then
      -- Acks take effect even if nothing may be claimed.
      queue.is_refused = true
      return queue.over == 0 and redis.call('LRANGE', keys.ready, '1', '0')
    elseif #numbers == 0 then
      queue.ghosts = 0
      return
    end
    taken.passed = from + #numbers
    local stored = redis.call('HMGET', keys.jobs, unpack(fields_of(numbers)))
    for at, seq in ipairs(numbers) do
      local record, packed = stored[at * 2 - 1], stored[at * 2]
      if stands_in_list(record, packed) and not (seen and seen[seq]) then
        if seen then
          seen[seq] = true
        end
        taken[#taken + 1] = seq
        taken[#taken + 1] = record
        taken[#taken + 1] = packed
        taken.listed = taken.listed + 1
        count = count - 1
      else
        queue.ghosts = math.max(0, queue.ghosts - 1)
        taken.more_ghosts = taken.more_ghosts - 1
      end
    end
  end
end

local function take_numbers(jobs, numbers, taken)
  if #numbers == 0 then
    return
  end
  local stored = redis.call('HMGET', jobs, unpack(fields_of(numbers)))
  for at, seq in ipairs(numbers) do
    if taken.seen then
      taken.seen[seq] = true
    end
    taken[#taken + 1] = seq
    taken[#taken + 1] = stored[at * 2 - 1]
    taken[#taken + 1] = stored[at * 2]
  end
end

-- The scores of the jobs that are served before the list, and after it.
local SIDES = { before = { '-inf', '(0' }, behind = { '(0', '+inf' } }

-- `side`: before or after the list; so many of them are taken already.
local function take_prioritized(keys, side, count, taken)
  local from, to = unpack(SIDES[side])
  local numbers = redis.call('ZRANGEBYSCORE', keys.prioritized, from, to, 'LIMIT', taken[side], count)
  taken[side] = taken[side] + #numbers
  for _, seq in ipairs(numbers) do
    taken.prioritized[#taken.prioritized + 1] = seq
  end
  take_numbers(keys.jobs, numbers, taken)
end

-- The next job of the group whose turn it is, and how many groups become empty by that.
local function take_of_group(keys, now_us)
  local name = redis.call('LRANGE', keys.turns, '0', '0')[1]
  local group = read_group(keys.groups, name)
  group.in_ring = false
  local number = string.format('%.0f', group.number)
  local member = redis.call('ZRANGEBYSCORE', keys.grouped, number, number, 'LIMIT', '0', '1')[1]
  if member then
    group.ready, group.claimed = group.ready - 1, group.claimed + 1
    if group.rate_limit > 0 then
      group.arrival_us = arrival_after(group.arrival_us, group, now_us, 1)
    end
  end
  place_group(keys, name, group, now_us)
  redis.call('LPOP', keys.turns)
  if member then
    redis.call('ZREM', keys.grouped, member)
  end
  return member and string.sub(member, 11), group.in_ring and 0 or 1
end

-- The list counts as one more group.
local function take_in_turn(keys, queue, count, taken)
  local ring = redis.call('LLEN', keys.turns)
  while count > 0 and ring > 0 and taken.more_empty > 0 do
    local before = #taken
    if queue.turn >= ring then
      queue.turn = 0
      take_listed(keys, queue, 1, taken)
    else
      local seq, emptied = take_of_group(keys, queue.now_us)
      ring = ring - emptied
      if seq then
        queue.turn = queue.turn + 1
        take_numbers(keys.jobs, { seq }, taken)
      else
        taken.more_empty = taken.more_empty - 1
      end
    end
    count = count - (#taken - before) / 3
  end
  take_listed(keys, queue, count, taken)
end

-- At most so many, in addition to those taken before.
local function take_some(keys, queue, count, taken)
  local before = #taken
  local has_priorities = is_marked(queue, MARKS.priorities)
  if has_priorities then
    take_prioritized(keys, 'before', count, taken)
  end
  if is_marked(queue, MARKS.groups) then
    take_in_turn(keys, queue, count - (#taken - before) / 3, taken)
  else
    take_listed(keys, queue, count - (#taken - before) / 3, taken)
  end
  local left = count - (#taken - before) / 3
  if has_priorities and left > 0 then
    take_prioritized(keys, 'behind', left, taken)
  end
  return taken
end

-- One after the other, until the call's budget is used up. Also returns whether there may be more.
local function take_large(keys, queue, count, taken)
  local budget = budget_of(count)
  while is_left(budget) do
    local before = #taken
    take_some(keys, queue, 1, taken)
    if #taken == before then
      return taken, false
    end
    local packed = taken[#taken]
    spend(budget, 1, size_of(taken[#taken - 1], packed and unpack_run(packed)))
  end
  return taken, budget.elements > 0
end

-- At most so many. Also returns whether there may be more that did not fit into one answer.
local function take_ready(keys, queue, count)
  if
    is_marked(queue, MARKS.returned)
    and (is_marked(queue, MARKS.priorities) or is_marked(queue, MARKS.groups))
  then
    bring_returned(keys, queue, count)
  end
  local taken = {
    seen = queue.ghosts > 0 and {} or nil,
    ghosts = queue.ghosts,
    passed = 0,
    listed = 0,
    prioritized = {},
    before = 0,
    behind = 0,
    more_ghosts = MOST_GHOSTS,
    more_empty = MOST_EMPTY,
  }
  if is_marked(queue, MARKS.bodies) and queue.ready > CALL_BYTES then
    return take_large(keys, queue, count, taken)
  end
  return take_some(keys, queue, count, taken), false
end

-- The commands on places of priorities and groups before, or after, the jobs are leased: each once on nothing. Returns
-- whether those of groups were tried.
local function try_taking(keys, queue, acks_first)
  redis.call('ZREM', keys.leases, '')
  redis.call('ZADD', keys.leases, 'XX', '0', '')
  if acks_first then
    redis.call('ZRANGEBYSCORE', keys.leases, '+inf', '-inf')
    redis.call('LRANGE', keys.turns, '1', '0')
  end
  if is_marked(queue, MARKS.groups) then
    redis.call('HDEL', keys.groups, '')
    redis.call('HGET', keys.groups, '')
    redis.call('LPOP', keys.turns, '0')
  end
  if acks_first and is_marked(queue, MARKS.groups) then
    redis.call('LLEN', keys.turns)
  end
  return is_marked(queue, MARKS.groups)
end

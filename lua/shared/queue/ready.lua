-- A short list of texts, stored as one text: how many were ever added in four bytes, then each after its length in two.

-- Adds one. If there are `most`, the oldest is removed, except the `spared` first ones. `packed`: false: none yet.
local function add_entry(packed, entry, most, spared)
  local count, kept = 0, ''
  if packed then
    count, kept = struct.unpack('>I4', packed), string.sub(packed, 5)
  end
  if count >= most then
    local from = 1
    for _ = 1, spared do
      from = from + 2 + struct.unpack('>H', kept, from)
    end
    local behind = from + 2 + struct.unpack('>H', kept, from)
    kept = string.sub(kept, 1, from - 1) .. string.sub(kept, behind)
  end
  return struct.pack('>I4', count + 1) .. kept .. struct.pack('>H', #entry) .. entry
end

-- The places of ready jobs: those of a group in `grouped` (see shared/queue/groups), those with a priority in
-- `prioritized`, all others in the list `ready`.
--
-- The list is never searched. A job that leaves it other than from its front leaves its number behind, a ghost, which
-- is skipped when it reaches the front. If the job has come back to the list meanwhile, its first entry is valid, and
-- the other one is the ghost. A call that leaves ghosts sweeps the list; see `sweep_ready`. `queue.left`: how many
-- there were before.

-- Also for a job that waits for others, and will be ready there: the ack that makes it ready may claim it, and tries
-- the needed commands before. Jobs that came back while there were no groups move among the priorities now; see
-- shared/queue/due.
local function mark_place(queue, job)
  if job.group ~= '' then
    set_mark(queue, MARKS.groups)
    if is_marked(queue, MARKS.returned) then
      set_mark(queue, MARKS.priorities)
    end
  elseif job.priority ~= 0 then
    set_mark(queue, MARKS.priorities)
  end
end

-- A lost job without group goes to the front of the list only if the list is served first: with groups it is one of
-- many. If jobs are added later that are served before the list, it moves before them; see shared/queue/due. Returns
-- whether it is stored: not if the user lacks a right to the list.
local function stand_ready(keys, queue, job, seq, in_front)
  mark_place(queue, job)
  if job.group ~= '' then
    join_group(keys, queue, job, seq, in_front)
  elseif
    job.priority ~= 0 or (in_front and (is_marked(queue, MARKS.priorities) or is_marked(queue, MARKS.groups)))
  then
    set_mark(queue, MARKS.priorities)
    redis.call('ZADD', keys.prioritized, in_front and IN_FRONT or -job.priority, seq)
  elseif in_front then
    set_mark(queue, MARKS.returned)
    return type(redis.pcall('LPUSH', keys.ready, seq)) == 'number'
  else
    return type(redis.pcall('RPUSH', keys.ready, seq)) == 'number'
  end
  return true
end

-- As stand_ready, of so many bytes. If it cannot be stored it is due at once, and becomes ready with all that is due.
-- Returns its state.
local function place_ready(keys, queue, job, seq, size, state)
  if stand_ready(keys, queue, job, seq, state == 'b') then
    queue.ready = queue.ready + size
    return state
  end
  redis.call('ZADD', keys.scheduled, string.format('%.0f', queue.now_ms), seq)
  note_due(queue, queue.now_ms)
  queue.scheduled = queue.scheduled + size
  return 's'
end

-- Removes a ready job from its place.
local function leave_ready(keys, queue, job, seq)
  if job.group ~= '' then
    leave_group(keys, job, seq, queue.now_us)
  elseif not is_marked(queue, MARKS.priorities) or redis.call('ZREM', keys.prioritized, seq) == 0 then
    queue.left = queue.left or queue.ghosts
    queue.ghosts = queue.ghosts + 1
  end
end

local function is_above(count, least)
  return type(count) == 'number' and count > least
end

-- Whether more is ready, as far as is known without checking each.
local function has_more(keys, queue)
  return is_above(redis.pcall('LLEN', keys.ready), queue.ghosts)
    or (is_marked(queue, MARKS.priorities) and is_above(redis.pcall('ZCARD', keys.prioritized), 0))
    or (is_marked(queue, MARKS.groups) and is_above(redis.pcall('LLEN', keys.turns), 0))
end

-- In the sorted set of prioritized jobs, before all priorities: the place of jobs that came back.
local IN_FRONT = '-4294967296'

-- The list has entries of jobs that are elsewhere, or removed: calls that leave some remove as many, from both ends, if
-- there are any. A job that is only elsewhere keeps one entry, because it may come back to it.
local SWEPT_AT_ONCE = 100
local REBUILT_EACH = 500
local MOST_REBUILT = 3000

local function is_gone(keys, seq)
  return redis.pcall('HEXISTS', keys.jobs, seq) == 0
end

-- Returns whether the user may do that.
local function trim(keys, from, to)
  return not redis.pcall('LTRIM', keys.ready, string.format('%d', from), string.format('%d', to)).err
end

local function sweep_front(keys, most)
  local swept = 0
  repeat
    local numbers, removed = redis.pcall('LRANGE', keys.ready, '0', string.format('%d', SWEPT_AT_ONCE - 1)), 0
    while removed < #numbers and is_gone(keys, numbers[removed + 1]) do
      removed = removed + 1
    end
    if removed > 0 and not trim(keys, removed, -1) then
      return swept
    end
    swept = swept + removed
  until removed == 0 or removed < #numbers or swept >= most
  return swept
end

-- Also one with an earlier entry: the first entry is valid.
local function sweep_back(keys, most)
  local swept = 0
  repeat
    local numbers = redis.pcall('LRANGE', keys.ready, string.format('%d', -SWEPT_AT_ONCE), '-1')
    local first, left = {}, #numbers
    for at, seq in ipairs(numbers) do
      first[seq] = first[seq] or at
    end
    while left > 0 and (first[numbers[left]] < left or is_gone(keys, numbers[left])) do
      left = left - 1
    end
    local removed = #numbers - left
    if removed > 0 and not trim(keys, 0, -removed - 1) then
      return swept
    end
    swept = swept + removed
  until removed == 0 or left > 0 or swept >= most
  return swept
end

-- In a short list, also those between others.
local function rebuild(keys)
  local numbers, seen, kept = redis.pcall('LRANGE', keys.ready, '0', '-1'), {}, {}
  for _, seq in ipairs(numbers) do
    if not seen[seq] and not is_gone(keys, seq) then
      kept[#kept + 1] = seq
    end
    seen[seq] = true
  end
  -- They are added once more first, so that a user who lacks a right to the second step loses none.
  for at = 1, #kept < #numbers and #kept or 0, 1000 do
    if type(redis.pcall('RPUSH', keys.ready, unpack(kept, at, math.min(at + 999, #kept)))) == 'table' then
      return 0
    end
  end
  if #kept < #numbers and not trim(keys, #numbers, -1) then
    return -#kept
  end
  return #numbers - #kept
end

-- `before`: how many there were when the call began.
local function sweep_ready(keys, queue, before)
  local made = queue.ghosts - before
  local swept = sweep_front(keys, made + 10)
  swept = swept + sweep_back(keys, made + 10)
  local left = queue.ghosts - swept
  local is_turn = math.floor(left / REBUILT_EACH) > math.floor((left - made) / REBUILT_EACH)
  local listed = is_turn and redis.pcall('LLEN', keys.ready)
  if type(listed) == 'number' and listed <= MOST_REBUILT then
    swept = swept + rebuild(keys)
  end
  queue.ghosts = math.max(0, queue.ghosts - swept)
end

-- Pages of ready jobs without group.

-- Their numbers from a place on: those that came back and are before all priorities, then the list. Also returns how
-- many are of the former, some of which have a priority.
local function ready_page(keys, after, limit)
  local count = redis.call('ZCOUNT', keys.prioritized, '-inf', IN_FRONT)
  local numbers = {}
  if after < count then
    local to = math.min(after + limit, count) - 1
    numbers = redis.call('ZRANGE', keys.prioritized, string.format('%.0f', after), string.format('%.0f', to))
  end
  local in_front = #numbers
  if in_front < limit then
    local from = math.max(0, after - count)
    local to = from + limit - in_front - 1
    local listed = redis.call('LRANGE', keys.ready, string.format('%.0f', from), string.format('%.0f', to))
    for _, seq in ipairs(listed) do
      numbers[#numbers + 1] = seq
    end
  end
  return numbers, in_front
end

-- Whether a plain job whose number is in the list is ready there.
local function stands_listed(prioritized_jobs, job, run, seq)
  return state_of(run) == 'ready'
    and job.group == ''
    and not (run and run.state == 'b' and redis.call('ZSCORE', prioritized_jobs, seq))
end

-- Calls on many jobs end after the job that reaches this, and the others are for the next call: 2 for a job, 4 for one
-- with options, and 1 for each of its dependencies; or once they have moved as many bytes as a call may.
local MOST_WORK = 2000

local function may_do_more(queue)
  return (queue.work or 0) < MOST_WORK and (queue.moved or 0) < CALL_BYTES
end

local function count_work(queue, job)
  queue.work = (queue.work or 0) + (job.is_plain and 2 or 4)
end

-- Removes a job that is not claimed from its place, in any state.
local function displace(keys, queue, seq, job, run, size)
  local state = run and run.state or 'r'
  count_work(queue, job)
  if state == 's' then
    redis.call('ZREM', keys.scheduled, seq)
    queue.scheduled = queue.scheduled - size
  elseif state == 'w' then
    unblock(keys, queue, seq, run)
    leave_dependencies(keys, queue, seq, redis.call('HGET', keys.jobs, 'd' .. seq) or '')
  elseif state == 'd' then
    leave_dead(keys, queue, seq, run)
  elseif state == 'f' then
    redis.call('ZREM', keys.done, seq)
    queue.done = queue.done - size
  else
    leave_ready(keys, queue, job, seq)
    queue.ready = queue.ready - size
  end
end

-- If concurrency is limited, the end of one job lets another one start.

-- Whether to call a waiting worker because a job is claimed no more.
local function frees_others(queue)
  if queue.idle == 0 or queue.ready == 0 then
    return false
  end
  return is_marked(queue, MARKS.groups) or parse_settings(queue.settings).concurrency > 0
end

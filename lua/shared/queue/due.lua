-- Due work: scheduled jobs that are due become ready.
local function show_due(keys, queue, most)
  local due =
    redis.call('ZRANGEBYSCORE', keys.scheduled, '-inf', queue.now_ms, 'WITHSCORES', 'LIMIT', '0', most)
  for at = 1, #due, 2 do
    local seq, due_ms = due[at], tonumber(due[at + 1])
    local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
    local job = stored[1] and read_job(stored[1], queue.usual)
    -- A job that may not become ready yet is still due.
    local stands = not job or stand_ready(keys, queue, job, seq, false)
    if stands then
      redis.call('ZREM', keys.scheduled, seq)
    end
    if job and stands then
      local run = unpack_run(stored[2])
      queue.scheduled, queue.ready = queue.scheduled - run.size, queue.ready + run.size
      store_run(keys.jobs, seq, run, 'r', due_ms)
    end
  end
  return #due / 2
end

-- The time from which something may be due: a scheduled job, or a lease that ends. Earlier calls need not look. It is
-- never too late, but may be too early: leases are renewed, and jobs are done.

local function note_due(queue, due_ms)
  if due_ms < queue.due_ms then
    queue.due_ms = due_ms
  end
end

-- Jobs that were lost or released while the queue had none with a priority or a group are at the front of the list,
-- which is no longer served first. Up to `count` of them move before all priorities.
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
    set_mark(queue, MARKS.priorities)
    redis.call('ZADD', keys.prioritized, unpack(returned))
  end
  if passed > 0 and redis.pcall('LTRIM', keys.ready, string.format('%d', passed), '-1').err then
    -- They leave their numbers behind, as ghosts.
    queue.ghosts = ghosts + #returned / 2
    return
  end
  -- There are none after the first other one.
  if #returned < count * 2 and (passed < #numbers or #numbers < looked) then
    queue.marks = queue.marks - MARKS.returned
  end
end

-- Handles due work: leases that ended, jobs that are due, dependencies to check, and recurrences. About as many jobs
-- become ready as are `wanted`, because other calls wait meanwhile.

-- Whether the user may do everything that one of them needs: each is handled as a whole. The commands, each once on
-- nothing.
local function may_bring_due(keys, queue)
  local tried = {
    redis.pcall('HDEL', keys.jobs, ''),
    redis.pcall('ZREM', keys.leases, ''),
    redis.pcall('ZADD', keys.leases, 'XX', '0', ''),
    redis.pcall('HSET', keys.meta, 'codec', queue.codec),
    redis.pcall('HEXISTS', keys.jobs, ''),
    redis.pcall('ZCARD', keys.held),
    redis.pcall('EXISTS', keys.short),
    redis.pcall('LLEN', keys.turns),
  }
  local read = {
    redis.pcall('ZRANGE', keys.held, '1', '0'),
    redis.pcall('ZRANGEBYSCORE', keys.held, '+inf', '-inf'),
    redis.pcall('ZRANGEBYLEX', keys.children, '+', '-'),
    redis.pcall('LRANGE', keys.turns, '1', '0'),
  }
  for _, each in ipairs(tried) do
    if type(each) ~= 'number' then
      return false
    end
  end
  for _, each in ipairs(read) do
    if each.err then
      return false
    end
  end
  local popped = redis.pcall('LPOP', keys.turns, '0')
  return not (popped and popped.err)
    and not redis.pcall('HGET', keys.jobs, '')
    and not redis.pcall('ZSCORE', keys.held, '')
end

-- Without a right to it none of that is handled, and the next call looks again.
local function bring_due(keys, queue, settings, wanted)
  if not may_bring_due(keys, queue) then
    queue.is_refused = true
    return
  end
  reclaim_lost(keys, queue, 100)
  show_due(keys, queue, math.max(20, math.min(wanted, 100)))
  if queue.is_behind then
    catch_up(keys, queue, settings)
  end
  if is_marked(queue, MARKS.dependencies) then
    note_dependencies_due(keys, queue)
  end
  if is_marked(queue, MARKS.recurrences) and not settings.paused then
    spawn_due(keys, queue, 100)
  end
  queue.due_ms = look_again(queue, next_due_ms(keys, queue, settings) or NEVER_MS)
end

-- The least score; nil if there is none. If the user may not read it now, it is read again in a moment.
local function least_of(set, now_ms)
  local first = redis.pcall('ZRANGE', set, '0', '0', 'WITHSCORES')
  return first.err and now_ms + 1000 or tonumber(first[2])
end

-- When there is work without another call, in milliseconds of the server; nil: never.
local function next_due_ms(keys, queue, settings)
  local first, lease = least_of(keys.scheduled, queue.now_ms), least_of(keys.leases, queue.now_ms)
  local soonest = math.min(first or math.huge, lease or math.huge)
  if is_marked(queue, MARKS.groups) then
    soonest = math.min(soonest, least_of(keys.held, queue.now_ms) or math.huge)
  end
  if is_marked(queue, MARKS.dependencies) then
    local dependency = least_of(keys.parents, queue.now_ms)
    -- Some process checks those of other queues, which may take a moment.
    local ask_ms = dependency and math.max(dependency, queue.now_ms + 1000)
    soonest = math.min(soonest, dependency == 0 and queue.now_ms or ask_ms or math.huge)
  end
  if is_marked(queue, MARKS.recurrences) and not settings.paused then
    local run = redis.pcall(
      'ZRANGEBYSCORE',
      keys.recurring,
      '-inf',
      '(9007199254740991',
      'WITHSCORES',
      'LIMIT',
      '0',
      '1'
    )
    soonest = math.min(soonest, run.err and queue.now_ms + 1000 or tonumber(run[2] or math.huge))
  end
  return soonest < math.huge and soonest or nil
end

-- Notes due work of dependencies: dependents to notify, and other queues to ask.
local function note_dependencies_due(keys, queue)
  local dependency = redis.call('ZRANGE', keys.parents, '0', '0', 'WITHSCORES')[2]
  if dependency == '0' then
    queue.settling = true
  elseif dependency and tonumber(dependency) <= queue.now_ms then
    queue.chores = with_flag(queue.chores, CHORES.ask_after)
  end
end

-- When jobs that were claimed just now, until `ends_ms`, cause work: their leases end, or the rate that they used up
-- lets the next job start.
local function next_change_ms(held, queue, settings, ends_ms)
  local soonest = ends_ms
  local start_ms = next_start_ms(queue, settings)
  if start_ms > 0 then
    soonest = math.min(soonest, queue.now_ms + start_ms)
  end
  if is_marked(queue, MARKS.groups) then
    soonest = math.min(soonest, least_of(held, queue.now_ms) or math.huge)
  end
  return soonest
end

-- After a clock step back, groups held back by their rate, and recurrences, would wait until the clock has caught up.
-- They are checked as long as the clock is behind, so many at a time, in turn.
local MOST_CAUGHT_UP = 100
local TURN_MS = 1000

-- The part of a sorted set whose turn it is.
local function part_of(set, now_ms)
  local parts = math.ceil(redis.call('ZCARD', set) / MOST_CAUGHT_UP)
  local from = parts > 0 and math.floor(now_ms / TURN_MS) % parts * MOST_CAUGHT_UP or 0
  return redis.call('ZRANGE', set, from, from + MOST_CAUGHT_UP - 1)
end

-- The longest known time between two runs; 0: unknown.
local function longest_gap(recurrence)
  local longest_ms, times = recurrence.every_ms, recurrence.times
  for at = 2, #times do
    longest_ms = math.max(longest_ms, times[at] - times[at - 1])
  end
  -- The gap before the last run.
  if #times == 1 and recurrence.last_ms > 0 then
    return math.max(longest_ms, times[1] - recurrence.last_ms)
  end
  return longest_ms
end

-- A recurrence whose next run is further away than twice that continues by the present clock: it runs whenever that
-- shows one of its times, also a second time. Others only wait until the clock reaches their next run, so that a daily
-- run happens once a day. Times of an expression have to be supplied again, even if all up to its end were known; until
-- then the known ones stay. Returns how many bytes of the job it has read.
local function continue_by_clock(keys, queue, id)
  -- Without its job, which may be large.
  local stored = redis.call('HMGET', keys.recurrences, 'd' .. id, 's' .. id, 't' .. id)
  local known = unpack_runs(stored[1], stored[2], stored[3])
  local gap_ms = longest_gap(known)
  if gap_ms == 0 or known.next_ms <= queue.now_ms + 2 * gap_ms then
    return 0
  elseif known.every_ms == 0 and is_to_be_replaced(known) then
    return 0
  end
  local recurrence = read_recurrence(keys.recurrences, id)
  if recurrence.every_ms > 0 then
    recurrence.next_ms = next_interval(recurrence, queue.now_ms)
  else
    recurrence.known_ms, recurrence.complete = queue.now_ms, false
  end
  save_progress(keys, queue, id, recurrence)
  return #recurrence.record
end

local function catch_up(keys, queue, settings)
  if is_marked(queue, MARKS.groups) then
    look_at_held(keys, part_of(keys.held, queue.now_ms), queue.now_us)
  end
  if is_marked(queue, MARKS.recurrences) and not settings.paused then
    -- The others of this part follow at its next turn: continued ones are not far away any more.
    local bytes = 0
    for _, id in ipairs(part_of(keys.recurring, queue.now_ms)) do
      bytes = bytes + continue_by_clock(keys, queue, id)
      if bytes >= CALL_BYTES then
        break
      end
    end
  end
end

-- The watching worker; see shared/queue/idle.

-- If a watching worker stops waiting, another one comes to watch.
local function see_to_watch(idle, queue, score)
  local by_ms = called_until(score, queue.now_ms)
  if by_ms then
    see_to_second(idle, queue, watching_process(idle), by_ms)
  end
  if queue.watch_ms == 0 and queue.due_ms < NEVER_MS then
    see_to(idle, queue, queue.due_ms)
  end
end

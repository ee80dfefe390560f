-- Workers that found no job, longest first. Each has a name, '<process>.<number>', and its process listens on
-- '<channel>:<process>' for 'come <name> 0'. After ':' the name may say that the worker takes jobs by letter, see
-- `hand_over`; letters leave that part out. A caller that adds work calls one worker; one that finds more than it takes
-- calls the next, so that as many come as there is work for. A process that does not listen is dead, and skipped.
--
-- Two of them watch the time; they are after the others, by greater scores:
--   the first    comes back by itself when the next job is due or the next lease ends. After it, no worker watches.
--   the second   is of another process. It comes back at the time in its score, at most a second after the first one.
--                So due work is seen even if the process of the first one dies.
-- If only one process is called, a second one is called as well, once in a second, and comes back after a second. So a
-- job does not wait for a process that listens and does not come.
--
-- All this is best effort: a missing right to it ends no call. Workers poll after a while.
local WATCHING = 1125899906842624
local SECOND = 2251799813685248
local IDLE_KEPT_MS = '7200000'
local MOST_GONE = 500
local MOST_LOOKED_AT = 500
-- A worker that is so late will not come.
local LATE_MS = 1000

-- The first one stops watching.
local function end_watch(queue, score)
  if score >= WATCHING and score < SECOND then
    queue.watch_ms = 0
  end
end

-- The name of the worker that waits longest; nil if none waits. It stops waiting.
local function pop_idle(idle, queue)
  local popped = queue.idle > 0 and redis.pcall('ZPOPMIN', idle) or {}
  local name, score = popped[1], popped[2]
  if popped.err then
    return nil
  elseif not name then
    queue.idle = 0
    return nil
  end
  queue.idle = queue.idle - 1
  end_watch(queue, tonumber(score))
  return name
end

local function ticket_of(worker)
  return { id = string.match(worker, '^[^:]*'), listens = 1 }
end

local function come_message(ticket)
  return 'come ' .. ticket.id .. ' 0'
end

-- Notifies it. False if it is certainly dead.
local function notify_idle(worker, how)
  local ticket = ticket_of(worker)
  return notify_process(ticket, come_message(ticket), how)
end

-- Whether a second one of another process comes by itself by then.
local function has_second(idle, queue, process, by_ms)
  local first, last = SECOND + queue.now_ms, SECOND + by_ms
  local names = redis.pcall('ZRANGEBYSCORE', idle, first, last, 'LIMIT', '0', '3')
  for _, name in ipairs(names) do
    local ticket = ticket_of(name)
    if process_of(ticket) ~= process and listens_here(ticket, queue.how) ~= false then
      return true
    end
  end
  return false
end

-- One or several workers stop waiting. Returns whether the user may do that.
local function remove_idle(idle, queue, names)
  local removed = redis.pcall('ZREM', idle, unpack(names))
  local may = type(removed) == 'number'
  queue.idle = queue.idle - (may and removed or 0)
  return may
end

-- Removes dead workers among the hundred that wait longest.
local function drop_gone(idle, queue)
  local names, processes, dead = redis.pcall('ZRANGE', idle, '0', '99', 'WITHSCORES'), {}, {}
  for at = 1, #names, 2 do
    processes[#processes + 1] = process_of({ id = names[at] })
  end
  local listening = processes[1] and listening_here(processes, queue.how)
  for at, process in ipairs(listening and processes or {}) do
    if not listening[process] then
      dead[#dead + 1] = names[at * 2 - 1]
      end_watch(queue, tonumber(names[at * 2]))
    end
  end
  if dead[1] then
    remove_idle(idle, queue, dead)
  end
end

-- The name of the living worker that waits longest, and whether its process listens, nil if unknown. It stops waiting.
-- Nil if none waits, or too many are dead.
local function pop_living(idle, queue)
  for _ = 1, MOST_GONE, 100 do
    local name = pop_idle(idle, queue)
    local listens = name and listens_here(ticket_of(name), queue.how)
    if listens ~= false then
      return name, listens
    end
    -- Others may be dead, too.
    drop_gone(idle, queue)
  end
end

-- Calls the first of these that is of another process, and makes it come back by then. Those that are dead, or were
-- called so before and did not come, stop waiting. Returns whether there was one, and how many are of this process.
local function call_one_of(some, idle, queue, process, by_ms)
  local own = 0
  for at = 1, #some, 2 do
    local name, score = some[at], tonumber(some[at + 1])
    if process_of({ id = name }) == process then
      own = own + 1
    else
      end_watch(queue, score)
      local is_late = score >= SECOND and score < SECOND + queue.now_ms - LATE_MS
      if not is_late and notify_idle(name, queue.how) then
        redis.pcall('ZADD', idle, SECOND + by_ms, name)
        return true, own
      end
      remove_idle(idle, queue, { name })
    end
  end
  return false, own
end

-- Calls one of another process, and makes it come back by then: one of those that wait longest, or that watch.
local function call_second(idle, queue, process, by_ms)
  local from, count = 0, 10
  while from < MOST_LOOKED_AT do
    local some = redis.pcall('ZRANGE', idle, from, from + count - 1, 'WITHSCORES')
    local called, own = call_one_of(some, idle, queue, process, by_ms)
    if called or #some < 2 * count then
      return
    end
    from, count = from + own, 100
  end
  -- Watching workers are after all others.
  call_one_of(redis.pcall('ZRANGE', idle, '-3', '-1', 'WITHSCORES'), idle, queue, process, by_ms)
end

-- Makes sure that one of another process comes by then.
local function see_to_second(idle, queue, process, by_ms)
  if queue.idle > 0 and not has_second(idle, queue, process, by_ms) then
    call_second(idle, queue, process, by_ms)
  end
end

local function call_idle(idle, queue, count)
  local first, several
  for _ = 1, count do
    local name = pop_living(idle, queue)
    if not name then
      break
    end
    local ticket = ticket_of(name)
    publish_to(ticket, come_message(ticket), queue.how)
    local process = process_of(ticket)
    several = several or (first and first ~= process)
    first = first or process
  end
  if first and not several then
    see_to_second(idle, queue, first, queue.now_ms + LATE_MS)
  end
end

-- Returns its score if it was still waiting.
local function leave_idle(idle, queue, name)
  local score = queue.idle > 0 and name ~= '' and tonumber(redis.pcall('ZSCORE', idle, name))
  if score and remove_idle(idle, queue, { name }) then
    end_watch(queue, score)
  end
  return score
end

local function is_watched(queue)
  return queue.watch_ms + LATE_MS > queue.now_ms
end

-- Makes sure that some worker sees what is due at that time.
local function see_to(idle, queue, due_ms)
  if queue.idle > 0 and (not is_watched(queue) or due_ms < queue.watch_ms) then
    call_idle(idle, queue, 1)
  end
end

-- Until when a worker with this score was called to come back; nil: it was not, or comes back now.
local function called_until(score, now_ms)
  local by_ms = (score or 0) - SECOND
  return by_ms > now_ms and by_ms or nil
end

-- The process of the first watching worker, or nil. The newest is the one; there may be others, which were late.
local function watching_process(idle)
  local first = redis.pcall('ZRANGEBYSCORE', idle, WATCHING, '(2251799813685248', 'LIMIT', '0', '10')
  return first[1] and process_of({ id = first[#first] })
end

-- How a worker waits.

-- Returns whether it is stored, if the user may do that.
local function stand_idle(idle, queue, name, score)
  local added = redis.pcall('ZADD', idle, score, name)
  -- An entry left by an earlier refused call is counted now.
  if added == 1 or queue.idle == 0 and added == 0 then
    queue.idle = queue.idle + 1
    redis.pcall('PEXPIRE', idle, IDLE_KEPT_MS)
  end
  return type(added) == 'number'
end

-- Until when a worker of this process watches as the second one; nil: not needed.
local function second_until(idle, queue, process)
  local by_ms = queue.watch_ms + LATE_MS
  local watching = watching_process(idle)
  if watching == process or has_second(idle, queue, watching, by_ms) then
    return nil
  end
  return by_ms
end

-- A worker waits, and watches the time if no other does, or if work is due sooner (`due_ms`; nil: none is). `score` is
-- its previous score. Returns in how many milliseconds it has to come back; 0: not needed.
local function wait_idle(idle, queue, worker, due_ms, score)
  local process, by_ms = process_of({ id = worker }), called_until(score, queue.now_ms)
  queue.idlers = queue.idlers + 1
  if due_ms and not (is_watched(queue) and queue.watch_ms <= due_ms) then
    see_to_second(idle, queue, process, due_ms + LATE_MS)
    queue.watch_ms = stand_idle(idle, queue, worker, WATCHING + queue.idlers) and due_ms or 0
    return math.max(1, math.min(due_ms, by_ms or math.huge) - queue.now_ms)
  end
  if by_ms and by_ms > (due_ms and queue.watch_ms or queue.now_ms) + LATE_MS then
    by_ms = nil
  end
  if due_ms and not by_ms and queue.idle > 0 then
    by_ms = second_until(idle, queue, process)
  end
  if not stand_idle(idle, queue, worker, by_ms and SECOND + by_ms or queue.idlers) then
    return LATE_MS
  end
  return by_ms and math.max(1, by_ms - queue.now_ms) or 0
end

-- A worker that found fewer jobs than it wanted waits until it is woken. Returns in how many milliseconds it has to
-- come back by itself; 0: not needed.
local function wait_for_work(keys, queue, settings, worker, score, has_room)
  local now_ms, wait_ms = queue.now_ms, next_start_ms(queue, settings)
  if has_room and queue.ready > 0 and has_more(keys, queue) then
    wait_ms = 1
  end
  local due_ms = next_due_ms(keys, queue, settings)
  due_ms = due_ms and look_again(queue, due_ms)
  note_due(queue, due_ms or math.huge)
  if wait_ms > 0 then
    due_ms = math.min(due_ms or math.huge, now_ms + wait_ms)
  end
  note_time(queue)
  return wait_idle(keys.idle, queue, worker, due_ms, score)
end

-- A job that arrives while a worker waits is claimed for it at once, and is sent in the letter that calls it: that
-- saves the worker a call. If the worker never reads the letter, it is as if it had claimed the job and died.
--
-- Such a worker ends its name with ':' and its lease time in ms. Its letter is
--   'job <name> <number> <token> <ends_at_ms>', the name of the job, its payload
-- in three lines, of which only the last may contain line breaks. Letters are texts, and so must be the payloads in
-- them.
local MOST_HANDED = 8192

-- Only if any claim would get just this job, and nothing else happened; and if dead processes can be detected.
local function may_hand(ready, queue, codec, name, payload)
  return queue.idle > 0
    and queue.how.counted
    and codec == 'json'
    and #payload <= MOST_HANDED
    and not string.find(name, '\n', 1, true)
    and not queue.settings
    and queue.marks % MARKS.dependencies == 0
    and queue.due_ms > queue.now_ms
    and redis.call('EXISTS', ready) == 0
end

-- Ready again, because it could not be handed over.
local function take_back_handed(keys, handed)
  local at_ms = math.floor(handed.seq / 1000)
  local run = pack_new_run('r', at_ms, handed.size, FLAGS.plain, handed.name)
  redis.call('HSET', keys.jobs, 'r' .. handed.seq, run)
end

-- Returns whether the user may do that; if not, the job is unchanged.
local function store_handed(keys, queue, handed)
  local scores, marks = { exact(handed.ends_ms), handed.seq }, queue.marks
  local run = pack_claimed_run(handed.token, 1, queue.now_ms, handed.size, FLAGS.plain, handed.name)
  redis.call('HSET', keys.jobs, 'r' .. handed.seq, run)
  widen(queue, MARKS.wide_leases, scores, '+inf')
  if type(redis.pcall('ZADD', keys.leases, unpack(scores))) == 'number' then
    return true
  end
  queue.marks = marks
  take_back_handed(keys, handed)
  return false
end

-- No worker could be notified. Returns whether the lease could be taken back; if not, it is as if the worker had died.
local function take_back_lease(keys, handed)
  if type(redis.pcall('ZREM', keys.leases, handed.seq)) == 'table' then
    return false
  end
  take_back_handed(keys, handed)
  return true
end

local function note_handed(queue, handed)
  note_due(queue, handed.ends_ms)
  note_alike(queue, 'w' .. handed.name, 0, 1, 0, 0)
  queue.token, queue.claimed = handed.token, queue.claimed + handed.size
end

-- Stores a plain job, and claims it for the first worker whose process listens. Returns whether there is one, and
-- whether no other worker is to be called: the caller has called one that takes no letters, or whose process may not
-- listen, or none waits.
local function hand_over(keys, queue, seq, name, payload, record)
  local fields = { seq, record }
  widen(queue, MARKS.wide_jobs, fields, '~')
  redis.call('HSET', keys.jobs, unpack(fields))
  local now_ms, token = queue.now_ms, next_token(queue.token, queue.now_us)
  local worker, listens = pop_living(keys.idle, queue)
  if not worker then
    -- No worker waits, or this call has skipped as many as it may.
    return false, true
  end
  local lease_ms, ticket = tonumber(string.match(worker, ':(%d+)$')), ticket_of(worker)
  if not listens or not lease_ms then
    publish_to(ticket, come_message(ticket), queue.how)
    see_to_second(keys.idle, queue, process_of(ticket), now_ms + LATE_MS)
    return false, true
  end
  local ends_ms = now_ms + lease_ms
  local handed = { seq = seq, name = name, size = #record, token = token, ends_ms = ends_ms }
  local words = { 'job', ticket.id, seq, exact(token), exact(ends_ms) }
  local letter = table.concat(words, ' ') .. '\n' .. name .. '\n' .. payload
  if
    not store_handed(keys, queue, handed)
    or not publish_to(ticket, letter, queue.how) and take_back_lease(keys, handed)
  then
    -- It polls after a while.
    return false, true
  end
  note_handed(queue, handed)
  see_to(keys.idle, queue, ends_ms)
  return true, false
end

-- The longest time until the next check of what a clock step back holds up; see shared/queue/due.
local LOOK_AGAIN_MS = 1000

local function look_again(queue, due_ms)
  return queue.is_behind and math.min(due_ms, queue.now_ms + LOOK_AGAIN_MS) or due_ms
end

-- Dependents of ended dependencies, beyond those that one call notifies, are due at once: a waiting worker handles
-- them.
local function see_to_rest(idle, queue)
  if queue.due_ms <= queue.now_ms then
    see_to(idle, queue, queue.now_ms)
  end
end

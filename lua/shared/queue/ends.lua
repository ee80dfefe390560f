-- The end of a job.

-- Removes all data of a job, in any state. A job that was never claimed has no run.
local function erase_job(keys, queue, seq, job, run)
  if run and run.state == 'f' and has_flag(run.flags, FLAGS.owed) then
    keep_end(keys, queue, seq, job, run)
  end
  redis.call(
    'HDEL',
    keys.jobs,
    seq,
    'r' .. seq,
    'e' .. seq,
    'p' .. seq,
    'o' .. seq,
    'h' .. seq,
    'l' .. seq,
    'w' .. seq
  )
  if run and has_flag(run.flags, FLAGS.apart) then
    redis.call('HDEL', keys.jobs, 'b' .. seq)
  end
  if not job.is_plain then
    free_names(keys.ids, job, seq)
  end
  local is_tracked = run and has_flag(run.flags, FLAGS.tracked)
  if job.tags ~= '' or is_tracked then
    leave_tags(keys.tagged, seq, job.tags, is_tracked)
  end
  if run and has_flag(run.flags, FLAGS.dependency) then
    end_dependency(keys, queue, seq, job.id, 'x', '')
  end
  if run and has_flag(run.flags, FLAGS.dependent) then
    drop_dependencies(keys, queue, seq)
  end
end

-- Ends the claim of a job; its lease has been removed.
local function end_claim(keys, queue, job, run)
  queue.claimed = queue.claimed - run.size
  if job.group ~= '' then
    free_in_group(keys, job.group, queue.now_us)
  end
end

-- The end of a job that is done and kept, for its dependents and waiters. Its result is copied for later waiters,
-- unless it exceeds what a call may read. Then it is read from the job itself, until that is removed, or begins again.

-- Call this before removing a job whose run has FLAGS.owed. Changes its flags, which the caller writes if there still
-- is a run.
local function keep_end(keys, queue, seq, job, run)
  run.flags = run.flags - FLAGS.owed
  if redis.call('HEXISTS', keys.jobs, 'y' .. seq) == 1 or redis.call('ZSCORE', keys.parents, seq) == '0' then
    local result = redis.call('HGET', keys.jobs, 'o' .. seq) or ''
    redis.call('HSET', keys.jobs, 'z' .. seq, pack_end('f', job.id == '' and seq or job.id, result))
    queue.moved = (queue.moved or 0) + #result
  end
end

-- The end of a job that has waiters, or is kept for them. The waiters are stored in the hash of jobs under 'w' and its
-- number, their names separated, and its run says so. They are notified at the end of the call; see `notify_others`.
local KEPT_FOR_WAITERS_MS = 60000

-- `ended`: its state (f done, d dead, x cancelled), the kind and the message of its failure, and its result; '' if it
-- has none. Changes the flags of the run, which the caller writes if there still is one.
local function note_end(jobs, queue, seq, job, run, ended)
  local is_awaited = run and has_flag(run.flags, FLAGS.awaited)
  if not is_awaited and job.result_ttl_ms == 0 then
    return
  end
  local waiters, keep_ms = '', job.result_ttl_ms
  if is_awaited then
    waiters = redis.call('HGET', jobs, 'w' .. seq) or ''
    redis.call('HDEL', jobs, 'w' .. seq)
    run.flags = run.flags - FLAGS.awaited
    keep_ms = math.max(keep_ms, KEPT_FOR_WAITERS_MS)
  end
  queue.ends = queue.ends or {}
  queue.ends[#queue.ends + 1] = {
    id = job.id == '' and seq or job.id,
    seq = seq,
    state = ended.state,
    kind = ended.kind,
    message = ended.message,
    result = ended.result,
    keep_ms = keep_ms,
    waiters = waiters,
  }
end

-- The waiters for the end of a job; see `note_end`.
local MOST_WAITERS = 100

local function waiters_of(jobs, seq)
  local names = {}
  for name in string.gmatch(redis.call('HGET', jobs, 'w' .. seq) or '', '%S+') do
    names[#names + 1] = name
  end
  return names
end

local function enter_waiters(jobs, seq, waiter)
  local names = waiters_of(jobs, seq)
  for _, name in ipairs(names) do
    if name == waiter then
      return
    end
  end
  if #names >= MOST_WAITERS then
    table.remove(names, 1)
  end
  names[#names + 1] = waiter
  redis.call('HSET', jobs, 'w' .. seq, table.concat(names, ' '))
end

-- Its run continues to say that there are waiters, which does no harm.
local function leave_waiters(jobs, seq, waiter)
  if not seq then
    return
  end
  local left = {}
  for _, name in ipairs(waiters_of(jobs, seq)) do
    if name ~= waiter then
      left[#left + 1] = name
    end
  end
  if #left == 0 then
    redis.call('HDEL', jobs, 'w' .. seq)
  else
    redis.call('HSET', jobs, 'w' .. seq, table.concat(left, ' '))
  end
end

-- The kept end of a job, or nil.
local function kept_result(results, id, now_ms)
  local stored = redis.call('HMGET', results, 'v' .. id, 'u' .. id)
  if not stored[1] or tonumber(stored[2]) <= now_ms then
    return nil
  end
  return unpack_result(stored[1])
end

-- The end of a job that is dead or kept, or nil.
local function result_of(jobs, seq, run)
  if run and run.state == 'f' then
    local result = redis.call('HGET', jobs, 'o' .. seq) or ''
    return { state = 'f', at_ms = run.at_ms, kind = '', message = '', result = result }
  elseif run and run.state == 'd' then
    local at_ms, kind, message = unpack_failure(redis.call('HGET', jobs, 'e' .. seq))
    return { state = 'd', at_ms = at_ms, kind = kind, message = message, result = '' }
  end
  return nil
end

-- A queue that has not begun is not stored, except for the waiters for its first job, and its event listeners. Their
-- data is removed with the last of them, and expires if none comes back: they poll far more often.
local AWAITED_KEPT_MS = '7200000'

local function save_awaited(meta, queue, packed, caller, record)
  if queue.idle == 0 and queue.listened_ms == 0 then
    redis.call('UNLINK', meta)
    return
  end
  redis.call('HSET', meta, 'layout', queue.layout, 'state', packed)
  if caller then
    redis.call('HSET', meta, caller, record)
  end
  redis.call('PEXPIRE', meta, AWAITED_KEPT_MS)
end

-- Keeps the ends of jobs, and notifies their waiters: 'ended <name> 0', one message a process.

-- The hash expires some time after the last end.
local SPARE_MS = 3600000

-- Of the ends to which these fields belong, the expired ones: both fields of each.
local function ends_over(results, sample, now_ms)
  local fields, over = {}, {}
  for at = 1, #sample do
    fields[at] = 'u' .. string.sub(sample[at], 2)
  end
  for at, until_ms in ipairs(#fields > 0 and redis.call('HMGET', results, unpack(fields)) or {}) do
    if until_ms and tonumber(until_ms) <= now_ms then
      over[#over + 1] = fields[at]
      over[#over + 1] = 'v' .. string.sub(fields[at], 2)
    end
  end
  return over
end

-- Expired ends are dropped by sampling, as in shared/expiry, but without reading results, which may have any size. Two
-- are sampled for each added one, so that as many are dropped as are added once half of all have expired.
local function forget_old_results(results, count, now_ms)
  local left, size = 2 * count + 4, 8
  while left > 0 do
    -- The embedded demo engine does not know the command; it keeps nothing for long anyway.
    local over = ends_over(results, redis.pcall('HRANDFIELD', results, string.format('%d', size)), now_ms)
    if #over == 0 then
      return
    end
    redis.pcall('HDEL', results, unpack(over))
    left = left - math.abs(size)
    size = -math.min(left, 1500)
  end
end

local function keep_results(results, ended, now_ms)
  local longest = 0
  for _, each in ipairs(ended) do
    redis.call(
      'HSET',
      results,
      'v' .. each.id,
      pack_result(each, now_ms),
      'u' .. each.id,
      string.format('%.0f', now_ms + each.keep_ms)
    )
    longest = math.max(longest, each.keep_ms)
  end
  local left_ms = redis.pcall('PTTL', results)
  if type(left_ms) ~= 'number' or left_ms < longest + SPARE_MS then
    redis.pcall('PEXPIRE', results, longest + 2 * SPARE_MS)
  end
  forget_old_results(results, #ended, now_ms)
end

local function notify_ends(results, queue)
  local ended = queue.ends
  keep_results(results, ended, queue.now_ms)
  local letters = {}
  for _, each in ipairs(ended) do
    for name in string.gmatch(each.waiters, '%S+') do
      local process = process_of({ id = name })
      local before = letters[process]
      letters[process] = (before and before .. '\n' or '') .. 'ended ' .. name .. ' 0'
    end
  end
  for process, letter in pairs(letters) do
    notify_process({ id = process, listens = 1 }, letter, queue.how)
  end
end

-- Notifications at the end of a call: to waiters, that their jobs have ended; to listeners, the events; and the notes
-- for the statistics.

local function notify_others(keys, queue)
  if queue.ends then
    notify_ends(keys.results, queue)
  end
  if queue.noted or queue.counted then
    leave_notes(keys, queue, packed_notes(queue))
  end
  if queue.events then
    publish(keys.listeners, queue.events, queue.now_ms)
  end
end

-- The worker of a cancelled job gives it up: the job is removed.
local function stop_job(keys, queue, seq)
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
  local job, run = read_job(stored[1], queue.usual), unpack_run(stored[2])
  redis.call('ZREM', keys.leases, seq)
  end_claim(keys, queue, job, run)
  cancel_job(keys, queue, seq, job, run)
end

local CANCELLED = { state = 'x', kind = '', message = '', result = '' }

-- The end of a cancelled job that has left its state.
local function cancel_job(keys, queue, seq, job, run)
  happened(queue, 'cancelled', seq, job, run, '')
  note_end(keys.jobs, queue, seq, job, run, CANCELLED)
  erase_job(keys, queue, seq, job, run)
  queue.cancelled = queue.cancelled + 1
  count_job(queue, 'c', run.name)
end

-- Jobs that are done. They are removed at once, unless the queue keeps some: then `done` holds them by when they ended,
-- and their results are kept with them.

-- Removes jobs above the kept number, or older than allowed, or all if none are kept; at most so many, and fewer if
-- their results have to be kept for others.
local function drop_done(keys, queue, settings, most)
  local surplus = {}
  if settings.retention_ms > 0 then
    surplus =
      redis.call('ZRANGEBYSCORE', keys.done, '-inf', queue.now_ms - settings.retention_ms, 'LIMIT', '0', most)
  end
  local above = settings.retention_ms == 0 and most or 0
  if settings.retention_count > 0 then
    local kept = redis.pcall('ZCARD', keys.done)
    above = type(kept) == 'number' and kept - settings.retention_count or 0
  end
  if above > #surplus then
    surplus = redis.pcall('ZRANGE', keys.done, '0', math.min(above, most) - 1)
  end
  if #surplus == 0 then
    return
  end
  local stored = redis.call('HMGET', keys.jobs, unpack(fields_of(surplus)))
  local removed = {}
  for at, seq in ipairs(surplus) do
    if (queue.moved or 0) >= CALL_BYTES then
      break
    end
    removed[at] = seq
    local record = stored[at * 2 - 1]
    if record then
      local run = unpack_run(stored[at * 2])
      queue.done = queue.done - run.size
      erase_job(keys, queue, seq, read_job(record, queue.usual), run)
    end
  end
  if #removed > 0 then
    redis.call('ZREM', keys.done, unpack(removed))
  end
end

-- Fields of removed jobs; for kept ones their ends by time, and their fields with values.
local function store_ends(keys, removed, kept, kept_runs)
  if #removed > 0 then
    redis.call('HDEL', keys.jobs, unpack(removed))
  end
  if #kept > 0 then
    redis.call('ZADD', keys.done, unpack(kept))
    redis.call('HSET', keys.jobs, unpack(kept_runs))
  end
end

-- Completes the jobs of a list of numbers and packed runs, which were claimed until now.
local function finish_jobs(keys, queue, settings, ended)
  local keeps = settings.retention_count + settings.retention_ms > 0
  local numbers, removed, kept, kept_runs = {}, {}, {}, {}
  local ran = {}
  for at = 1, #ended, 3 do
    numbers[#numbers + 1] = ended[at]
  end
  redis.call('ZREM', keys.leases, unpack(numbers))
  for at = 1, #ended, 3 do
    local seq, run, result = ended[at], ended[at + 1], ended[at + 2]
    queue.claimed = queue.claimed - run.size
    ran[#ran + 1] = run.at_ms
    ran[#ran + 1] = run.name
    local job = run.flags ~= FLAGS.plain and read_job(redis.call('HGET', keys.jobs, seq), queue.usual) or nil
    if has_flag(run.flags, FLAGS.dependency) then
      end_dependency(keys, queue, seq, job.id, 'f', result)
      run.flags = run.flags - FLAGS.dependency
    end
    if job and job.group ~= '' then
      free_in_group(keys, job.group, queue.now_us)
    end
    if queue.events then
      local id = job and job.id or ''
      queue.events[#queue.events + 1] = { 'acked', seq, id, run.name, run.attempts, run.token, run.flags, '' }
    end
    if job then
      note_end(keys.jobs, queue, seq, job, run, { state = 'f', kind = '', message = '', result = result })
    end
    if keeps then
      queue.done = queue.done + run.size
      kept[#kept + 1] = queue.now_ms
      kept[#kept + 1] = seq
      kept_runs[#kept_runs + 1] = 'r' .. seq
      kept_runs[#kept_runs + 1] = pack_run(run, 'f', queue.now_ms)
      kept_runs[#kept_runs + 1] = 'o' .. seq
      kept_runs[#kept_runs + 1] = result
      if job then
        free_unique(keys.ids, job, seq, true)
      end
    elseif job then
      erase_job(keys, queue, seq, job, run)
    else
      removed[#removed + 1] = seq
      removed[#removed + 1] = 'r' .. seq
      if run.attempts > 1 then
        removed[#removed + 1] = 'e' .. seq
      end
    end
  end
  store_ends(keys, removed, kept, kept_runs)
  if queue.done > 0 then
    drop_done(keys, queue, settings, 20 + #numbers)
  end
  queue.acked = queue.acked + #numbers
  note_spans(queue, 'a', ran, queue.now_ms, 1)
end

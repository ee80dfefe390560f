-- Jobs that are done. They are removed at once, unless the queue keeps some: then `done` holds them by when they
-- ended, and their results stay with them.

-- Removes what is above the number kept, or older than it may be, or all where none is kept; at most so many, and fewer where their
-- results have to be kept for others.
local function drop_done(keys, queue, settings, now_ms, most)
  local surplus = {}
  if settings.keep_ms > 0 then
    surplus = redis.call('ZRANGEBYSCORE', keys.done, '-inf', now_ms - settings.keep_ms, 'LIMIT', '0', most)
  end
  local above = settings.keep_ms == 0 and most or 0
  if settings.keep_count > 0 then
    local kept = redis.pcall('ZCARD', keys.done)
    above = type(kept) == 'number' and kept - settings.keep_count or 0
  end
  if above > #surplus then
    surplus = redis.pcall('ZRANGE', keys.done, '0', math.min(above, most) - 1)
  end
  if #surplus == 0 then
    return
  end
  local stored = redis.call('HMGET', keys.jobs, unpack(fields_of(surplus)))
  local gone = {}
  for at, seq in ipairs(surplus) do
    if (queue.moved or 0) >= CALL_BYTES then
      break
    end
    gone[at] = seq
    local record = stored[at * 2 - 1]
    if record then
      local run = unpack_run(stored[at * 2])
      queue.done = queue.done - run.size
      erase_job(keys, queue, seq, read_job(record, queue.usual), run)
    end
  end
  if #gone > 0 then
    redis.call('ZREM', keys.done, unpack(gone))
  end
end

-- Fields of jobs that are gone; of those kept their ends by time, and their fields with values.
local function store_ends(keys, gone, kept, kept_runs)
  if #gone > 0 then
    redis.call('HDEL', keys.jobs, unpack(gone))
  end
  if #kept > 0 then
    redis.call('ZADD', keys.done, unpack(kept))
    redis.call('HSET', keys.jobs, unpack(kept_runs))
  end
end

-- The jobs of a list of numbers and packed runs, claimed until now, are done.
local function finish_jobs(keys, queue, settings, ended, now_us)
  local now_ms = math.floor(now_us / 1000)
  local keeps = settings.keep_count + settings.keep_ms > 0
  local numbers, gone, kept, kept_runs = {}, {}, {}, {}
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
    local job = run.flags ~= PLAIN and read_job(redis.call('HGET', keys.jobs, seq), queue.usual) or nil
    if has_flag(run.flags, PARENT) then
      end_parent(keys, queue, seq, job.id, 'f', result)
      run.flags = run.flags - PARENT
    end
    if job and job.group ~= '' then
      free_in_group(keys, job.group, now_us)
    end
    if queue.events then
      local id = job and job.id or ''
      queue.events[#queue.events + 1] = { 'acked', seq, id, run.name, run.attempts, run.token, run.flags, '' }
    end
    if job then
      note_end(queue, keys.jobs, seq, job, run, 'f', '', '', result)
    end
    if keeps then
      queue.done = queue.done + run.size
      kept[#kept + 1] = now_ms
      kept[#kept + 1] = seq
      kept_runs[#kept_runs + 1] = 'r' .. seq
      kept_runs[#kept_runs + 1] =
        pack_run('f', run.token, run.attempts, now_ms, run.size, run.flags, run.name)
      kept_runs[#kept_runs + 1] = 'o' .. seq
      kept_runs[#kept_runs + 1] = result
      if job then
        free_unique(keys.ids, job, seq, true)
      end
    elseif job then
      erase_job(keys, queue, seq, job, run)
    else
      gone[#gone + 1] = seq
      gone[#gone + 1] = 'r' .. seq
      if run.attempts > 1 then
        gone[#gone + 1] = 'e' .. seq
      end
    end
  end
  store_ends(keys, gone, kept, kept_runs)
  if queue.done > 0 then
    drop_done(keys, queue, settings, now_ms, 20 + #numbers)
  end
  queue.acked = queue.acked + #numbers
  note_spans(queue, 'a', ran, 2, 1, now_ms, 1)
end

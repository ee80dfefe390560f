-- Leasing what was taken: a flat list of number, record and packed run; see shared/queue/take.

-- Answers what is told of the jobs, and of those with options what those are. Notes how long they waited. Nil without the right to
-- lease, and nothing has changed.
local function lease_jobs(keys, queue, taken, now_us, lease_ms)
  local now_ms = math.floor(now_us / 1000)
  local ends_ms = string.format('%.0f', now_ms + lease_ms)
  local token, events = queue.token, queue.events
  local told, options, runs, ends = {}, {}, {}, {}
  local waited, starting, started, bytes = {}, {}, {}, 0
  for at = 1, #taken, 3 do
    local seq, record, packed = taken[at], taken[at + 1], taken[at + 2]
    local attempts, size = 1, #record
    local flags, since_ms = PLAIN, seq / 1000
    local name, body_at
    local id = ''
    token = token + 1
    if packed then
      local run = unpack_run(packed)
      attempts, flags, since_ms, size = run.attempts + 1, run.flags, run.at_ms, run.size
    end
    if string.byte(record) > 0 then
      -- One that was requeued may have a failure to forget.
      if packed and attempts == 1 and flags == PLAIN then
        flags = 0
      end
      name, body_at = plain_name(record, queue.usual)
    else
      local job = read_job(record, queue.usual)
      flags, name, body_at, id = packed and flags or 0, job.name, job.body_at, job.id
      tell_options(options, (at - 1) / 3, seq, job)
      if string.sub(job.unique, 1, 1) == 's' then
        starting[seq] = job
      end
    end
    local told_at = #told
    told[told_at + 1] = tonumber(seq)
    told[told_at + 2] = token
    told[told_at + 3] = attempts
    told[told_at + 4] = name
    told[told_at + 5] = payload_of(keys.jobs, seq, record, body_at, flags)
    runs[#runs + 1] = 'r' .. seq
    runs[#runs + 1] = pack_run('c', token, attempts, now_ms, size, flags, name)
    ends[#ends + 1] = ends_ms
    ends[#ends + 1] = seq
    if events then
      started[#started + 1] = { 'claimed', seq, id, name, attempts, token, flags, '' }
    end
    waited[#waited + 1] = since_ms
    waited[#waited + 1] = name
    bytes = bytes + size
  end
  if next(starting) then
    redis.call('HDEL', keys.ids, '')
    redis.call('HGET', keys.ids, '')
  end
  if type(redis.pcall('HSET', keys.jobs, unpack(runs))) == 'table' then
    -- A server out of memory takes them behind a removal only.
    redis.call('LTRIM', keys.ready, '0', '-1')
    redis.call('HSET', keys.jobs, unpack(runs))
  end
  local marks = queue.marks
  widen(queue, WIDE_LEASES, ends, '+inf')
  if type(redis.pcall('ZADD', keys.leases, unpack(ends))) == 'table' then
    take_back_leases(keys.jobs, queue, taken)
    queue.marks, queue.ghosts = marks, taken.ghosts
    return nil
  end
  leave_taken(keys, queue, taken)
  -- Keys that are held until their jobs start are free.
  for seq, job in pairs(starting) do
    free_unique(keys.ids, job, seq, false)
  end
  for _, event in ipairs(started) do
    events[#events + 1] = event
  end
  queue.token, queue.ready, queue.claimed = token, queue.ready - bytes, queue.claimed + bytes
  note_due(queue, now_ms + lease_ms)
  note_spans(queue, 'w', waited, 2, 1, now_us / 1000, 1)
  return told, options
end

-- Leasing what was taken: a flat list of number, record and packed run.
-- @include shared/queue/tell-options

-- Answers what is told of the jobs, and of those with options what those are. Notes how long they waited.
local function lease_jobs(keys, queue, taken, now_us, lease_ms)
  local now_ms = math.floor(now_us / 1000)
  local ends_ms = string.format('%.0f', now_ms + lease_ms)
  local token, events = queue.token, queue.events
  local told, options, runs, ends = {}, {}, {}, {}
  local waited = {}
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
      if job.unique ~= '' then
        free_unique(keys.ids, job, seq, false)
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
      events[#events + 1] = { 'claimed', seq, id, name, attempts, token, flags, '' }
    end
    waited[#waited + 1] = since_ms
    waited[#waited + 1] = name
    queue.ready, queue.claimed = queue.ready - size, queue.claimed + size
  end
  queue.token = token
  redis.call('HSET', keys.jobs, unpack(runs))
  widen(queue, WIDE_LEASES, ends, '+inf')
  redis.call('ZADD', keys.leases, unpack(ends))
  note_due(queue, now_ms + lease_ms)
  note_spans(queue, 'w', waited, 2, 1, now_us / 1000, 1)
  return told, options
end

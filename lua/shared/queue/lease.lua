-- Leases ready jobs: a flat list of number, record and packed run; see shared/queue/take.

-- Returns the report of the jobs, and the options of those that have any. Notes how long they waited. Nil without the
-- right to lease, and then nothing has changed.
local function lease_jobs(keys, queue, taken, lease_ms)
  local ends_ms = string.format('%.0f', queue.now_ms + lease_ms)
  local token, events = queue.token, queue.events
  local reported, options, runs, ends = {}, {}, {}, {}
  local waited, starting, started, bytes = {}, {}, {}, 0
  for at = 1, #taken, 3 do
    local seq, record, packed = taken[at], taken[at + 1], taken[at + 2]
    local attempts, size = 1, #record
    local flags, since_ms = FLAGS.plain, seq / 1000
    local name, body_at
    local id = ''
    token = token + 1
    if packed then
      local run = unpack_run(packed)
      attempts, flags, since_ms, size = run.attempts + 1, run.flags, run.at_ms, run.size
    end
    if string.byte(record) > 0 then
      -- A requeued job may have a failure to forget.
      if packed and attempts == 1 and flags == FLAGS.plain then
        flags = 0
      end
      name, body_at = plain_name(record, queue.usual)
    else
      local job = read_job(record, queue.usual)
      flags, name, body_at, id = packed and flags or 0, job.name, job.body_at, job.id
      report_options(options, (at - 1) / 3, seq, job)
      if string.sub(job.unique, 1, 1) == 's' then
        starting[seq] = job
      end
    end
    local from = #reported
    reported[from + 1] = tonumber(seq)
    reported[from + 2] = token
    reported[from + 3] = attempts
    reported[from + 4] = name
    reported[from + 5] = payload_of(keys.jobs, seq, record, body_at, flags)
    runs[#runs + 1] = 'r' .. seq
    runs[#runs + 1] = pack_claimed_run(token, attempts, queue.now_ms, size, flags, name)
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
    -- A server out of memory accepts the next writes only after a removal.
    redis.call('LTRIM', keys.ready, '0', '-1')
    redis.call('HSET', keys.jobs, unpack(runs))
  end
  local marks = queue.marks
  widen(queue, MARKS.wide_leases, ends, '+inf')
  if type(redis.pcall('ZADD', keys.leases, unpack(ends))) == 'table' then
    take_back_leases(keys.jobs, queue, taken)
    queue.marks, queue.ghosts = marks, taken.ghosts
    return nil
  end
  leave_taken(keys, queue, taken)
  -- Keys that are held until their jobs start are released.
  for seq, job in pairs(starting) do
    free_unique(keys.ids, job, seq, false)
  end
  for _, event in ipairs(started) do
    events[#events + 1] = event
  end
  queue.token, queue.ready, queue.claimed = token, queue.ready - bytes, queue.claimed + bytes
  note_due(queue, queue.now_ms + lease_ms)
  note_spans(queue, 'w', waited, queue.now_us / 1000, 1)
  return reported, options
end

-- Leases ready jobs, up to the given room. Returns the report of them, and of their options, how many they are, their
-- first token and when the leases end, and whether the caller calls again for others; nil without the right to lease.
local function claim_jobs(keys, queue, settings, room, lease_ms)
  local taken, is_cut = take_ready(keys, queue, room)
  local count = #taken / 3
  if count == 0 then
    leave_taken(keys, queue, taken)
    return {}, {}, 0, 0, 0, is_cut
  end
  local token = next_token(queue.token, queue.now_us) - 1
  queue.token = token
  local reported, options = lease_jobs(keys, queue, taken, lease_ms)
  if not reported then
    -- A call that acks nothing is refused.
    if queue.over == 0 then
      redis.call('ZADD', keys.leases, 'XX', '0', '')
    end
    return nil
  end
  if settings.rate_limit > 0 then
    queue.arrival_us = arrival_after(queue.arrival_us, settings, queue.now_us, count)
  end
  return reported, options, count, token, queue.now_ms + lease_ms, is_cut
end

-- Jobs that a call claimed before, found by when their leases end, as long as those were not renewed: a caller that
-- renewed them has received them.

-- The jobs that were claimed by the call with these tokens: number, record and run of each.
local function claimed_before(keys, token, count, ends_ms)
  local found, from = {}, 0
  repeat
    local numbers = count > 0
        and redis.call('ZRANGEBYSCORE', keys.leases, ends_ms, ends_ms, 'LIMIT', from, '1000')
      or {}
    local stored = #numbers > 0 and redis.call('HMGET', keys.jobs, unpack(fields_of(numbers))) or {}
    for at, seq in ipairs(numbers) do
      local run = stored[at * 2] and unpack_run(stored[at * 2])
      if run and run.token > token and run.token <= token + count then
        found[run.token - token] = { seq = seq, record = stored[at * 2 - 1], run = run }
      end
    end
    from = from + #numbers
  until #numbers < 1000
  return found
end

-- Reports them as before. A job that is no longer claimed by that call is left out.
local function report_again(jobs, found, count, usual)
  local reported, options = {}, {}
  local place = 0
  for at = 1, count do
    local each = found[at]
    if each then
      local job = read_job(each.record, usual)
      if not job.is_plain then
        report_options(options, place, each.seq, job)
      end
      reported[#reported + 1] = tonumber(each.seq)
      reported[#reported + 1] = each.run.token
      reported[#reported + 1] = each.run.attempts
      reported[#reported + 1] = job.name
      reported[#reported + 1] = payload_of(jobs, each.seq, each.record, job.body_at, each.run.flags)
      place = place + 1
    end
  end
  return reported, options
end

-- Removes the records and runs of jobs that could not be put into the list: the call is refused. The run of a job that
-- was about to be handed over is removed as well.
local function take_back_records(jobs, fields)
  local names = {}
  for at = 1, #fields, 2 do
    names[#names + 1] = fields[at]
    names[#names + 1] = 'r' .. fields[at]
  end
  for at = 1, #names, 2000 do
    redis.pcall('HDEL', jobs, unpack(names, at, math.min(at + 1999, #names)))
  end
end

-- Jobs that could not be leased are restored.
local function take_back_leases(jobs, queue, taken)
  local runs = {}
  for at = 1, #taken, 3 do
    local seq, record, packed = taken[at], taken[at + 1], taken[at + 2]
    if not packed then
      local is_plain = string.byte(record) > 0
      local name = is_plain and plain_name(record, queue.usual) or read_job(record, queue.usual).name
      packed = pack_new_run('r', math.floor(seq / 1000), #record, is_plain and FLAGS.plain or 0, name)
    end
    runs[#runs + 1] = 'r' .. seq
    runs[#runs + 1] = packed
  end
  redis.call('HSET', jobs, unpack(runs))
end

-- Jobs that could not be leased are ready again, as before.
local function take_back_runs(jobs, runs)
  for at = 2, #runs, 2 do
    local _, _, _, _, size, _, name_at = struct.unpack('>c1dHdI4B', runs[at])
    local at_ms, name = math.floor(string.sub(runs[at - 1], 2) / 1000), string.sub(runs[at], name_at)
    runs[at] = pack_new_run('r', at_ms, size, FLAGS.plain, name)
  end
  redis.call('HSET', jobs, unpack(runs))
end

-- Releases claimed jobs, as if their attempts had never begun.

-- Before all waiting jobs, or after a delay.
local function give_back(keys, queue, seq, job, run, due_ms)
  redis.call('ZREM', keys.leases, seq)
  end_claim(keys, queue, job, run)
  happened(queue, 'released', seq, job, run, '')
  local entry = { what = 'g', at_ms = queue.now_ms, claimed_ms = run.at_ms, kind = '' }
  note_history(keys.jobs, seq, run, entry)
  run.attempts = run.attempts - 1
  if due_ms > queue.now_ms then
    return wait_again(keys, queue, seq, job, run, due_ms)
  end
  local state = place_ready(keys, queue, job, seq, run.size, 'b')
  store_run(keys.jobs, seq, run, state, queue.now_ms)
end

-- Calls waiting workers: for ready jobs, for free places, and to come back in time.
local function call_for_returned(idle, queue, standing, soonest_ms)
  if queue.idle == 0 then
    return
  end
  if soonest_ms < math.huge and frees_others(queue) then
    standing = math.max(standing, 1)
  end
  call_idle(idle, queue, math.min(standing, 8))
  if soonest_ms < math.huge then
    see_to(idle, queue, soonest_ms)
  end
end

-- Reclaims jobs of lost workers.

local LOST = { kind = 'lost', message = 'the lease ended before the job did' }

-- Jobs whose lease has ended are ready again, before all waiting jobs (those of a group, before the others of it), or
-- dead if that was their last attempt. Returns how many there were.
local function reclaim_lost(keys, queue, most)
  local lost = redis.call('ZRANGEBYSCORE', keys.leases, '-inf', queue.now_ms, 'LIMIT', '0', most)
  -- From last to first: each is placed before the one that was lost later.
  for at = #lost, 1, -1 do
    local seq = lost[at]
    local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
    redis.call('ZREM', keys.leases, seq)
    if stored[1] then
      local job, run = read_job(stored[1], queue.usual), unpack_run(stored[2])
      end_claim(keys, queue, job, run)
      if run.state == 'x' then
        cancel_job(keys, queue, seq, job, run)
      elseif run.attempts >= job.max_attempts then
        fail_claimed(keys, queue, seq, job, run, LOST)
        count_job(queue, 'd', run.name)
      else
        happened(queue, 'reclaimed', seq, job, run, LOST.kind)
        local state = place_ready(keys, queue, job, seq, run.size, 'b')
        local entry = { what = 'l', at_ms = queue.now_ms, claimed_ms = run.at_ms, kind = '' }
        note_history(keys.jobs, seq, run, entry)
        store_run(keys.jobs, seq, run, state, queue.now_ms)
        note_failure(keys.jobs, seq, queue.now_ms, LOST)
      end
      if run.state ~= 'x' then
        queue.reclaimed = queue.reclaimed + 1
        count_job(queue, 'r', run.name)
      end
    end
  end
  return #lost
end

-- Leased jobs leave the list and the sorted sets. Without the right to remove them from the list they leave their
-- numbers behind, as ghosts.
local function leave_taken(keys, queue, taken)
  if #taken.prioritized > 0 then
    redis.call('ZREM', keys.prioritized, unpack(taken.prioritized))
  end
  if taken.passed > 0 and redis.pcall('LTRIM', keys.ready, string.format('%d', taken.passed), '-1').err then
    queue.ghosts = math.max(queue.ghosts, taken.ghosts) + taken.listed
  end
end

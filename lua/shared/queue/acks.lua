-- What may be acked, and what may be claimed.

-- A job that is done: a group of a repeated argument.
local ACKS = fields({ 'number:text', 'token:integer', 'result:bytes' })

-- Checks acks: returns what ends, as number, run and result, what is refused, and the numbers of those that are refused
-- because they were cancelled.
local function judge_acks(jobs, acks, acks_at)
  local ended, refused, stopped, fields = {}, {}, {}, {}
  if #acks < acks_at then
    return ended, refused, stopped
  end
  for at = acks_at, #acks, #ACKS do
    fields[#fields + 1] = 'r' .. acks[at + ACKS.number]
  end
  local stored = redis.call('HMGET', jobs, unpack(fields))
  local seen = {}
  for place, packed in ipairs(stored) do
    local at = acks_at + (place - 1) * #ACKS
    local seq = acks[at + ACKS.number]
    local run = packed and unpack_run(packed)
    local why = why_not(run, tonumber(acks[at + ACKS.token])) or seen[seq]
    if why then
      refused[#refused + 1] = place - 1
      refused[#refused + 1] = why
      if why == 'cancelled' and not seen[seq] then
        seen[seq] = why
        stopped[#stopped + 1] = seq
      end
    else
      seen[seq] = 'acked'
      ended[#ended + 1] = seq
      ended[#ended + 1] = run
      ended[#ended + 1] = acks[at + ACKS.result]
    end
  end
  return ended, refused, stopped
end

-- How many jobs may be claimed now.
local function room_of(leases, queue, settings, limit)
  local room = limit
  if settings.paused then
    return 0
  end
  if settings.concurrency > 0 then
    local claimed = redis.pcall('ZCOUNT', leases, '-inf', '(+inf')
    room = type(claimed) == 'number' and math.min(room, settings.concurrency - claimed) or 0
  end
  if settings.rate_limit > 0 then
    queue.arrival_us = bounded_arrival(queue.arrival_us, settings, queue.now_us)
    room = math.min(room, starts_left(queue.arrival_us, settings, queue.now_us))
  end
  return math.max(0, room)
end

-- In how many milliseconds the rate lets another ready job start; 0: at once.
local function next_start_ms(queue, settings)
  if settings.rate_limit == 0 or settings.paused or queue.ready == 0 then
    return 0
  end
  return next_start_in_ms(queue.arrival_us, settings, queue.now_us)
end

-- Whether a job that ends may let another one start.
local function may_free_others(queue, settings)
  return queue.idle > 0 and (settings.concurrency > 0 or is_marked(queue, MARKS.groups))
end

-- Why an attempt has lost its job, or nil if it has not.
local function judge_claim(jobs, seq, token)
  local packed = redis.call('HGET', jobs, 'r' .. seq)
  return why_not(packed and unpack_run(packed), token)
end

-- One claimed job: its record and its run, or nil, nil and why the attempt has lost it.
local function judge_job(jobs, seq, token)
  local stored = redis.call('HMGET', jobs, seq, 'r' .. seq)
  local run = stored[2] and unpack_run(stored[2])
  local why = why_not(run, token)
  if why then
    return nil, nil, why
  end
  return stored[1], run
end

-- The effects of the acks of a call.

-- Returns the refused ones, and how many jobs have ended.
local function carry_out_acks(keys, queue, settings, acks, acks_at, has_tried)
  local ended, refused, stopped = judge_acks(keys.jobs, acks, acks_at)
  if #stopped > 0 or change_others(queue, settings, ended) then
    try_rights(keys, queue)
  elseif #ended > 0 then
    try_acks(keys, queue, has_tried)
  end
  for _, seq in ipairs(stopped) do
    stop_job(keys, queue, seq)
  end
  if #ended > 0 then
    finish_jobs(keys, queue, settings, ended)
  end
  return refused, #ended + #stopped
end

-- The commands after the first write if jobs are done, each once on nothing; see `try_rights` in shared/queue/state.
-- Most calls need few of them.

-- Whether the end of these jobs may change others: dependencies and dependents, and jobs that were kept.
local function change_others(queue, settings, ended)
  if settings.retention_count + settings.retention_ms > 0 or queue.done > 0 then
    return true
  end
  for at = 2, #ended, 3 do
    local flags = ended[at].flags
    if has_flag(flags, FLAGS.dependency) or has_flag(flags, FLAGS.dependent) then
      return true
    end
  end
  return false
end

-- `has_tried`: the commands of groups.
local function try_acks(keys, queue, has_tried)
  if not has_tried then
    redis.call('HDEL', keys.jobs, '')
    redis.call('HGET', keys.jobs, '')
    if is_marked(queue, MARKS.groups) then
      redis.call('ZADD', keys.leases, 'XX', '0', '')
    end
  end
  redis.call('HSET', keys.meta, 'codec', queue.codec)
end

-- The outcomes of several jobs, as text: '<at> <why> <at> <why> …;<at> <at> …'.

local function format_places(refused, places)
  return table.concat(refused, ' ') .. ';' .. table.concat(places, ' ')
end

local function parse_refused(text)
  local refused = {}
  for at, why in string.gmatch(string.match(text, '^[^;]*'), '(%d+) (%a+)') do
    refused[#refused + 1] = tonumber(at)
    refused[#refused + 1] = why
  end
  return refused
end

local function parse_places(text)
  local places = {}
  for at in string.gmatch(string.match(text, ';(.*)$'), '%d+') do
    places[#places + 1] = tonumber(at)
  end
  return places
end

-- The answer of an ack-and-claim as text: '<token> <count> <ends_ms> <refused>'; see `claimed_before` for the jobs.
local function format_claimed(token, count, ends_ms, refused)
  return string.format('%.0f %d %.0f ', token, count, ends_ms) .. format_places(refused, {})
end

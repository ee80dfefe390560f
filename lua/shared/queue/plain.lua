-- The head of the record of a plain job; see shared/queue/job.
local USUAL, USUAL_HEAD = 255, '\255'

local function plain_head(name, usual)
  return name == usual and USUAL_HEAD or string.char(#name) .. name
end

-- The name of a plain record, and where its payload begins.
local function plain_name(record, usual)
  local length = string.byte(record)
  if length == USUAL then
    return usual, 2
  end
  return string.sub(record, 2, length + 1), length + 2
end

-- Whether the server's clock has stepped back, by itself or because a node took over whose clock is behind. The newest
-- job and the newest token, which rise, are numbered by the time. A queue that was idle for longer than the step does
-- not detect it; its waits are late by less than that.
-- it; what it waits for is late by less than that.
local STEP_MS = 1000

local function is_behind(queue)
  return math.max(queue.last, queue.token) > (queue.now_ms + STEP_MS) * 1000
end

-- Notes for the statistics how long jobs waited or ran.

-- Notes `count` jobs under one key whose spans are in one bucket: the sum of those, and the greatest.
local function note_alike(queue, key, bucket, count, sum_ms, greatest_ms)
  -- Clocks may be set back.
  sum_ms, greatest_ms = sum_ms > 0 and sum_ms or 0, greatest_ms > 0 and greatest_ms or 0
  local note = struct.pack(NOTE, #key, key, bucket, count, sum_ms, greatest_ms)
  queue.noted = queue.noted and queue.noted .. note or note
end

-- Plain jobs that are claimed for the first time, and acked by their holders: the fast path.

-- Whether all jobs must be plain, and the call is not a repeated one. Of the marks only those of priorities and groups
-- matter.
local function is_quiet(queue, call_id)
  if
    queue.layout ~= QUEUE_LAYOUT
    or queue.settings
    or queue.marks % MARKS.dependencies > 0
    or queue.due_ms <= queue.now_ms
  then
    return false
  end
  if queue.marks > MARKS.priorities and queue.due_ms > queue.now_ms + 1000 then
    if is_behind(queue) then
      return false
    end
  end
  return not queue.record or tonumber(string.match(queue.record, '^%d+')) < tonumber(call_id.call)
end

local function has_twice(numbers)
  local seen = {}
  for _, seq in ipairs(numbers) do
    if seen[seq] then
      return true
    end
    seen[seq] = true
  end
  return false
end

-- A job that is done without a result: a group of a repeated argument.
local PLAIN_ACKS = fields({ 'number:text', 'token:integer' })

-- Checks such acks. Returns the fields and the numbers of the jobs that end, their bytes, and if there are any the name
-- of all, or false if they have several; the times of their claims: the sum, the earliest, the latest; their runs as
-- they are stored; and whether each token is one more than the previous one. Nil if one is not plain, not held, or
-- listed twice.
local function judge_plain(jobs, acks, acks_at)
  local fields, numbers, bytes, count = {}, {}, 0, 0
  for at = acks_at, #acks, #PLAIN_ACKS do
    count = count + 1
    fields[count] = 'r' .. acks[at + PLAIN_ACKS.number]
    numbers[count] = acks[at + PLAIN_ACKS.number]
  end
  if count == 0 then
    return { fields = fields, numbers = numbers, bytes = 0 }
  end
  local stored = redis.call('HMGET', jobs, unpack(fields))
  local last_name, are_alike = nil, true
  local first_token, last_token, do_rise = tonumber(acks[acks_at + PLAIN_ACKS.token]), 0, true
  local since_sum, soonest, latest = 0, math.huge, 0
  for place, packed in ipairs(stored) do
    if not packed then
      return nil
    end
    local state, token, attempts, at_ms, size, flags, name_at = struct.unpack('>c1dHdI4B', packed)
    if
      state ~= 'c'
      or flags ~= FLAGS.plain
      or attempts > 1
      or token ~= tonumber(acks[acks_at + (place - 1) * #PLAIN_ACKS + PLAIN_ACKS.token])
    then
      return nil
    end
    do_rise, last_token = do_rise and token > last_token, token
    bytes = bytes + size
    fields[count + place] = numbers[place]
    local name = string.sub(packed, name_at)
    if name ~= last_name then
      last_name, are_alike = name, place == 1
    end
    since_sum = since_sum + at_ms
    soonest = at_ms < soonest and at_ms or soonest
    latest = at_ms > latest and at_ms or latest
  end
  -- A job that is listed twice has the same token twice.
  if not do_rise and has_twice(numbers) then
    return nil
  end
  return {
    fields = fields,
    numbers = numbers,
    bytes = bytes,
    name = are_alike and last_name,
    since_sum = since_sum,
    soonest = soonest,
    latest = latest,
    runs = stored,
    are_in_turn = do_rise and last_token - first_token == count - 1,
  }
end

-- Notes how long acked jobs ran; see judge_plain. The names of plain jobs have 254 bytes at most, as many as a key of
-- the notes has room for.
local function note_ran(queue, acked)
  local now_ms, count = queue.now_ms, #acked.runs
  local greatest_ms = now_ms - acked.soonest
  local bucket = bucket_of(greatest_ms)
  if acked.name and (count == 1 or bucket_of(now_ms - acked.latest) == bucket) then
    local sum_ms = now_ms * count - acked.since_sum
    return note_alike(queue, 'a' .. acked.name, bucket, count, sum_ms, greatest_ms)
  end
  local list = {}
  for _, packed in ipairs(acked.runs) do
    local _, _, _, at_ms, _, _, name_at = struct.unpack('>c1dHdI4B', packed)
    list[#list + 1] = at_ms
    list[#list + 1] = string.sub(packed, name_at)
  end
  note_spans(queue, 'a', list, now_ms, 1)
end

-- The names of acked jobs, one if all have the same; see judge_plain.
local function names_of(acked)
  local names = { acked.name or nil }
  for place = 1, acked.name and 0 or #acked.runs do
    local _, _, _, _, _, _, name_at = struct.unpack('>c1dHdI4B', acked.runs[place])
    names[place] = string.sub(acked.runs[place], name_at)
  end
  return names
end

-- Notes how long claimed jobs waited.
local function note_waited(queue, numbers, names, are_alike, sum_us)
  local now_us, count = queue.now_us, #numbers
  -- Numbers are times, and rise.
  local least_ms, greatest_ms = (now_us - numbers[count]) / 1000, (now_us - numbers[1]) / 1000
  local bucket = bucket_of(greatest_ms)
  if are_alike and (count == 1 or bucket_of(least_ms) == bucket) then
    local sum_ms = (now_us * count - sum_us) / 1000
    return note_alike(queue, 'w' .. names[1], bucket, count, sum_ms, greatest_ms)
  end
  local list = {}
  for at, seq in ipairs(numbers) do
    list[at * 2 - 1], list[at * 2] = seq, names[at]
  end
  note_spans(queue, 'w', list, now_us, 1000)
end

-- The first jobs of the list and their records. Nil if one is not plain, or was claimed before.
local function look_at_listed(keys, count)
  if count == 0 then
    return {}, {}
  end
  local numbers = redis.call('LRANGE', keys.ready, '0', string.format('%d', count - 1))
  local listed = #numbers
  if listed == 0 then
    return numbers, {}
  end
  local fields = {}
  for at, seq in ipairs(numbers) do
    fields[at] = seq
    fields[listed + at] = 'r' .. seq
  end
  local stored = redis.call('HMGET', keys.jobs, unpack(fields))
  for at = 1, listed do
    if not stored[at] or stored[listed + at] or string.byte(stored[at]) == 0 then
      return nil
    end
  end
  return numbers, stored
end

-- Leases the first jobs of the list, and notes how long they waited. Returns their names, one if all have the same, and
-- their payloads; nil without the right to that. The leases of `acked` jobs are removed before others are added. Runs
-- and leases are written first, and jobs taken from the list last: without the right to that they leave their numbers
-- behind, as ghosts.
local function lease_plain(keys, queue, acked, numbers, stored, ends_ms)
  local ends, now_ms, token, usual = exact(ends_ms), queue.now_ms, queue.token, queue.usual
  local names, payloads, runs, scores, count = {}, {}, {}, {}, #numbers
  local are_alike, bytes, sum_us = true, 0, 0
  for at, seq in ipairs(numbers) do
    local record, pair = stored[at], at * 2
    local size, name, body_at = #record, plain_name(record, usual)
    names[at], payloads[at] = name, string.sub(record, body_at)
    runs[pair - 1] = 'r' .. seq
    runs[pair] = struct.pack(RUN, 'c', token + at, 1, now_ms, size, FLAGS.plain, name)
    scores[pair - 1], scores[pair] = ends, seq
    are_alike = are_alike and name == names[1]
    bytes, sum_us = bytes + size, sum_us + seq
  end
  if type(redis.pcall('HSET', keys.jobs, unpack(runs))) == 'table' then
    -- A server out of memory accepts the next writes only after a removal.
    redis.call('LTRIM', keys.ready, '0', '-1')
    redis.call('HSET', keys.jobs, unpack(runs))
  end
  local marks = queue.marks
  widen(queue, MARKS.wide_leases, scores, '+inf')
  local is_refused = #acked > 0 and type(redis.pcall('ZREM', keys.leases, unpack(acked))) == 'table'
  if is_refused or type(redis.pcall('ZADD', keys.leases, unpack(scores))) == 'table' then
    take_back_runs(keys.jobs, runs)
    queue.marks = marks
    if is_refused then
      redis.call('ZREM', keys.leases, '')
    end
    return nil
  end
  if redis.pcall('LTRIM', keys.ready, string.format('%d', count), '-1').err then
    queue.ghosts = queue.ghosts + count
  end
  note_due(queue, ends_ms)
  note_waited(queue, numbers, names, are_alike, sum_us)
  queue.token, queue.ready, queue.claimed = token + count, queue.ready - bytes, queue.claimed + bytes
  return are_alike and { names[1] } or names, payloads
end

-- Notifies listeners of events of plain jobs in a call; see shared/queue/events. A message is concatenated once, from
-- pieces: the server's Lua takes longer to free a text than to create it. The first piece is reserved for the head.

-- Adds a line, which begins '\n*<what>\t'. Numbers and tokens are texts with spaces between; one name, or one for each job.
local function plain_line(pieces, beginning, numbers, tokens, names)
  local at = #pieces
  pieces[at + 1], pieces[at + 2], pieces[at + 3], pieces[at + 4] = beginning, numbers, '\t', tokens
  for place, name in ipairs(names) do
    pieces[at + 3 + place * 2], pieces[at + 4 + place * 2] = '\t', spelled(name)
  end
end

-- Adds the line of jobs that were acked; see judge_plain.
local function add_acked_line(pieces, acked, acks, acks_at)
  local tokens = { acks[acks_at + PLAIN_ACKS.token] }
  for place = 2, acked.are_in_turn and 1 or #acked.numbers do
    tokens[place] = acks[acks_at + (place - 1) * #PLAIN_ACKS + PLAIN_ACKS.token]
  end
  local numbers_text, tokens_text = table.concat(acked.numbers, ' '), table.concat(tokens, ' ')
  plain_line(pieces, '\n*acked\t', numbers_text, tokens_text, names_of(acked))
end

local function publish_pieces(listeners, pieces, now_ms)
  local stored = #pieces > 1 and redis.pcall('HGET', listeners, 'channel')
  local number = type(stored) == 'string' and redis.pcall('HINCRBY', listeners, 'number', '1')
  if type(number) == 'number' then
    pieces[1] = message_head(number, now_ms)
    send(stored, table.concat(pieces))
  end
end

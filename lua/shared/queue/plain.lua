-- Plain jobs that are claimed for the first time, and acked by those who hold them: the quick way.

-- Whether nothing but plain jobs can be met, nobody listens, and the call is not a repeated one. Of the marks only
-- those of priorities and groups count.
local function is_quiet(queue, call, now_ms)
  if
    queue.layout ~= QUEUE_LAYOUT
    or queue.settings
    or queue.marks % 4 > 0
    or queue.due_ms <= now_ms
    or queue.listened_ms > now_ms
  then
    return false
  end
  return not queue.record or tonumber(string.match(queue.record, '^%d+')) < tonumber(call)
end

-- Of a repeated argument (number, token): the fields and the numbers of the jobs that end, and their bytes. Nil where
-- one is not plain, or not held.
local function judge_plain(jobs, acks, acks_at)
  local fields, numbers, bytes, count = {}, {}, 0, 0
  for at = acks_at, #acks, 2 do
    count = count + 1
    fields[count] = 'r' .. acks[at]
    numbers[count] = acks[at]
  end
  if count == 0 then
    return fields, numbers, 0
  end
  local stored = redis.call('HMGET', jobs, unpack(fields))
  local seen = {}
  for place, packed in ipairs(stored) do
    if not packed or seen[numbers[place]] then
      return nil
    end
    seen[numbers[place]] = true
    local state, token, attempts, _, size, flags = struct.unpack('>c1dHdI4B', packed)
    if state ~= 'c' or flags ~= PLAIN or attempts > 1 or token ~= tonumber(acks[acks_at + place * 2 - 1]) then
      return nil
    end
    bytes = bytes + size
    fields[count + place] = numbers[place]
  end
  return fields, numbers, bytes
end

-- The first jobs of the list and their records. Nil where one is not plain, or was claimed before.
local function look_at_listed(jobs, ready, count)
  if count == 0 then
    return {}, {}
  end
  local numbers = redis.call('LRANGE', ready, '0', string.format('%d', count - 1))
  local listed = #numbers
  if listed == 0 then
    return numbers, {}
  end
  local fields = {}
  for at, seq in ipairs(numbers) do
    fields[at] = seq
    fields[listed + at] = 'r' .. seq
  end
  local stored = redis.call('HMGET', jobs, unpack(fields))
  for at = 1, listed do
    if not stored[at] or stored[listed + at] or string.byte(stored[at]) == 0 then
      return nil
    end
  end
  return numbers, stored
end

-- Leases the first jobs of the list. Answers what is told of them.
local function lease_plain(jobs, ready, leases, queue, numbers, stored, now_us, ends_ms)
  local now_ms = math.floor(now_us / 1000)
  local ends, token, bytes = string.format('%.0f', ends_ms), queue.token, 0
  local told, runs, scores, count = {}, {}, {}, #numbers
  for at, seq in ipairs(numbers) do
    local record = stored[at]
    local size, length = #record, string.byte(record)
    local name = string.sub(record, 2, length + 1)
    token, bytes = token + 1, bytes + size
    local to, pair = at * 5, at * 2
    told[to - 4], told[to - 3], told[to - 2] = tonumber(seq), token, 1
    told[to - 1], told[to] = name, string.sub(record, length + 2)
    runs[pair - 1] = 'r' .. seq
    runs[pair] = struct.pack('>c1dHdI4B', 'c', token, 1, now_ms, size, PLAIN) .. name
    scores[pair - 1], scores[pair] = ends, seq
  end
  redis.call('LTRIM', ready, string.format('%d', count), '-1')
  redis.call('HSET', jobs, unpack(runs))
  widen(queue, WIDE_LEASES, scores, '+inf', WIDE)
  redis.call('ZADD', leases, unpack(scores))
  note_due(queue, ends_ms)
  queue.token, queue.ready, queue.claimed = token, queue.ready - bytes, queue.claimed + bytes
  return told
end

-- Duplicates: what is remembered of them, and jobs that they replace.

-- The answer of an enqueue as text: '<first> <at> <number> …'.
local function format_enqueued(first, duplicates)
  local parts = { string.format('%.0f', first) }
  for at, number in ipairs(duplicates) do
    parts[at + 1] = string.format('%.0f', number)
  end
  return table.concat(parts, ' ')
end

local function first_of(remembered)
  return tonumber(string.match(remembered, '^%d+'))
end

local function duplicates_of(remembered)
  local duplicates = {}
  for number in string.gmatch(remembered, ' (%d+)') do
    duplicates[#duplicates + 1] = tonumber(number)
  end
  return duplicates
end

-- Where a job stands that takes another's place; answers false where it was claimed, or is over.
local function leave_place(keys, queue, seq, old, run, size, now_us)
  local state = run and run.state or 'r'
  if run and run.attempts > 0 then
    return false
  elseif state == 's' then
    redis.call('ZREM', keys.scheduled, seq)
    queue.scheduled = queue.scheduled - size
  elseif state == 'w' then
    queue.blocked = queue.blocked - size
  elseif state == 'r' or state == 'b' then
    leave_ready(keys, queue, old, seq, now_us)
    queue.ready = queue.ready - size
  else
    return false
  end
  return true
end

-- A job that was not claimed yet takes the options and the payload of another one, but keeps its names, its parents and
-- its age; delayed, it waits anew. One that was claimed stays as it is.
local function replace_job(keys, queue, seq, new, payload, due_ms, now_us)
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
  if not stored[1] then
    return
  end
  local old, run = read_job(stored[1]), stored[2] and unpack_run(stored[2])
  local stays = due_ms == 0 and old.group == new.group and old.priority == new.priority
  local flags = run and run.flags > PLAIN and run.flags or 0
  new.id, new.unique = old.id, old.unique
  local record = full_head(new) .. payload
  local size, state = #record, run and run.state or 'r'
  if stays and state == 'r' and not run then
    redis.call('HSET', keys.jobs, seq, record)
    queue.ready = queue.ready - #stored[1] + size
    return
  elseif not leave_place(keys, queue, seq, old, run, #stored[1], now_us) then
    return
  end
  redis.call('HSET', keys.jobs, seq, record)
  if state == 'w' then
    redis.call('HSET', keys.jobs, 'r' .. seq, pack_run('w', 0, 0, run.at_ms, size, flags, new.name))
    queue.blocked = queue.blocked + size
  elseif due_ms == 0 then
    redis.call('HDEL', keys.jobs, 'r' .. seq)
    if flags > 0 then
      redis.call(
        'HSET',
        keys.jobs,
        'r' .. seq,
        pack_run('r', 0, 0, math.floor(seq / 1000), size, flags, new.name)
      )
    end
    stand_ready(keys, queue, new, seq, false, now_us)
    queue.ready = queue.ready + size
  else
    redis.call('HSET', keys.jobs, 'r' .. seq, pack_run('s', 0, 0, due_ms, size, flags, new.name))
    redis.call('ZADD', keys.scheduled, string.format('%.0f', due_ms), seq)
    note_due(queue, due_ms)
    queue.scheduled = queue.scheduled + size
  end
end

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

-- Takes a job that was not claimed yet from where it stands.
local function leave_place(keys, queue, seq, old, state, size, now_us)
  if state == 's' then
    redis.call('ZREM', keys.scheduled, seq)
    queue.scheduled = queue.scheduled - size
  elseif state == 'w' then
    queue.blocked = queue.blocked - size
  else
    leave_ready(keys, queue, old, seq, now_us)
    queue.ready = queue.ready - size
  end
end

-- A job that was not claimed yet takes the options and the payload of another one, but keeps its names, its parents, its
-- age and what is known of it, and its place where that is the same; delayed, it waits anew. One that was claimed stays as it is.
local function replace_job(keys, queue, seq, new, payload, due_ms, now_us)
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
  local run = stored[2] and unpack_run(stored[2])
  local state = run and run.state or 'r'
  local is_ready = state == 'r' or state == 'b'
  if not stored[1] or (run and run.attempts > 0) or not string.find(state, '[rbsw]') then
    return
  end
  local old, token, flags = read_job(stored[1], queue.usual), 0, 0
  local old_size = size_of(stored[1], run)
  if run then
    token, flags = run.token, run.flags == PLAIN and 0 or run.flags
  end
  new.id, new.unique = old.id, old.unique
  happened(queue, 'replaced', seq, new, run, '')
  local fields, size, apart = record_fields(queue, seq, full_head(new), payload)
  redis.call('HSET', keys.jobs, unpack(fields))
  if apart == 0 and has_flag(flags, APART) then
    redis.call('HDEL', keys.jobs, 'b' .. seq)
    flags = flags - APART
  elseif apart ~= 0 then
    flags = with_flag(flags, APART)
  end
  if old.tags ~= new.tags then
    -- @include shared/queue/leave-tags
    leave_tags(keys.tagged, seq, old.tags, false)
    enter_tags(keys.tagged, seq, new.tags)
  end
  if is_ready and due_ms == 0 and old.group == new.group and old.priority == new.priority then
    if run or apart ~= 0 then
      local since_ms = run and run.at_ms or math.floor(seq / 1000)
      redis.call('HSET', keys.jobs, 'r' .. seq, pack_run(state, token, 0, since_ms, size, flags, new.name))
    end
    queue.ready = queue.ready - old_size + size
    return
  end
  leave_place(keys, queue, seq, old, state, old_size, now_us)
  if state == 'w' then
    redis.call('HSET', keys.jobs, 'r' .. seq, pack_run('w', 0, 0, run.at_ms, size, flags, new.name))
    queue.blocked = queue.blocked + size
    mark_place(queue, new)
  elseif due_ms == 0 then
    local stands, at_ms = place_ready(keys, queue, new, seq, size, 'r', now_us), math.floor(now_us / 1000)
    if run or apart ~= 0 or stands == 's' then
      redis.call('HSET', keys.jobs, 'r' .. seq, pack_run(stands, token, 0, at_ms, size, flags, new.name))
    end
  else
    redis.call('HSET', keys.jobs, 'r' .. seq, pack_run('s', token, 0, due_ms, size, flags, new.name))
    redis.call('ZADD', keys.scheduled, string.format('%.0f', due_ms), seq)
    note_due(queue, due_ms)
    queue.scheduled = queue.scheduled + size
  end
end

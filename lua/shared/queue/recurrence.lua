-- Changes to recurrences; see shared/queue/read-recurrence.

-- Behind all that run.
local NO_RUN = '9007199254740991'

local function pack_times(times)
  local packed = {}
  for at, time_ms in ipairs(times) do
    packed[at] = struct.pack('>d', time_ms)
  end
  return table.concat(packed)
end

-- Whether it is to be filled by some process.
local function note_short(short, queue, id, recurrence)
  if not is_short(recurrence) then
    return leave_short(short, queue, id)
  end
  redis.call('ZADD', short, exact(recurrence.known_ms), id)
  if queue.chores % (REFILL * 2) < REFILL then
    queue.chores = queue.chores + REFILL
  end
end

-- What comes behind the first write, each once on nothing: one that does not stand among those that run next would never run.
local function try_progress(keys)
  redis.call('ZADD', keys.recurring, 'XX', '0', '')
  redis.call('ZREM', keys.short, '')
  redis.call('EXISTS', keys.short)
end

-- Saves how far a recurrence is, once its times or its runs have changed. One that `is_held` runs no more of its
-- times before others are known.
local function save_progress(keys, queue, id, recurrence)
  local is_cron = recurrence.every_ms == 0
  if recurrence.limit > 0 and recurrence.runs >= recurrence.limit then
    recurrence.complete, recurrence.next_ms, recurrence.times = true, 0, {}
  elseif is_cron then
    recurrence.next_ms = recurrence.times[1] or 0
  elseif recurrence.until_ms > 0 and recurrence.next_ms > recurrence.until_ms then
    recurrence.complete, recurrence.next_ms = true, 0
  end
  local progress = struct.pack(
    '>dddddB',
    recurrence.next_ms,
    recurrence.last_ms,
    recurrence.last_job,
    recurrence.runs,
    recurrence.known_ms,
    recurrence.complete and 1 or 0
  )
  redis.call('HSET', keys.recurrences, 's' .. id, progress, 't' .. id, pack_times(recurrence.times))
  local runs_next = recurrence.next_ms > 0 and not recurrence.is_held
  redis.call('ZADD', keys.recurring, runs_next and exact(recurrence.next_ms) or NO_RUN, id)
  note_short(keys.short, queue, id, recurrence)
end

-- Recurrences that are set anew, or changed.

local function pack_rule(every_ms, offset_ms, cron, time_zone)
  return struct.pack('>ddHc0Hc0', every_ms, offset_ms, #cron, cron, #time_zone, time_zone)
end

-- `window_ms`: how long a unique key is held for a time.
local function pack_template(missed, limit, until_ms, window_ms, job, payload)
  return struct.pack('>dddd', missed, limit, until_ms, window_ms) .. full_head(job) .. payload
end

-- Behind which time the runs of a recurrence begin. Where its rule is the same they go on as they were; where it is
-- not, or had ended, they begin now, and no time comes twice.
local function begins_behind(before, rule, now_ms)
  if not before then
    return now_ms
  elseif before.rule ~= rule or (before.complete and before.next_ms == 0) then
    return math.max(now_ms, before.last_ms)
  end
  return before.next_ms > 0 and before.next_ms - 1 or before.known_ms
end

-- The definition is stored already. Answers the recurrence as it is now.
local function begin_recurrence(keys, queue, id, before, rule, now_ms)
  local behind_ms = begins_behind(before, rule, now_ms)
  if queue.marks % (RECURRENCES * 2) < RECURRENCES then
    queue.marks = queue.marks + RECURRENCES
  end
  local was = before or { last_ms = 0, last_job = 0, runs = 0 }
  local blank = struct.pack('>dddddB', 0, was.last_ms, was.last_job, was.runs, behind_ms, 0)
  redis.call('HSET', keys.recurrences, 's' .. id, blank, 't' .. id, '')
  local recurrence = read_recurrence(keys.recurrences, id)
  if recurrence.every_ms > 0 then
    recurrence.next_ms = next_interval(recurrence, behind_ms)
  end
  save_progress(keys, queue, id, recurrence)
  return recurrence
end

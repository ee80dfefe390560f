-- Recurring jobs. In the hash of recurrences, under a letter and the id that its user gave:
--   d   the rule: every how many ms and from where, or a cron expression and its time zone, which are kept for those
--       who compute its times
--   j   the bounds (missed runs to make up for, jobs at most, end), and the job: a head without id, and the payload
--   s   how far it is: when the next run is, when the last was and which job, how many, the last time that is known
--   t   the coming times of a cron expression, as doubles
--   m   how often it has moved to another partition of the queue: where two have it, the one it has moved to less often gives way
-- `recurring` has all of them by their next run; one that has ended, or waits for more times, stands at NO_RUN. The
-- last known time is not run before a later one is known: else nobody could say whether it was missed.
--
-- One that is `complete` has no times but those that are known.

-- With fewer known times than these a recurrence is short of them.
local SHORT = 25

local function unpack_times(packed)
  local times = {}
  for at = 1, #packed, 8 do
    times[#times + 1] = struct.unpack('>d', packed, at)
  end
  return times
end

-- What is known of its runs, by its rule, progress and times as they are stored.
local function unpack_runs(rule, progress, times)
  local every_ms, offset_ms, cron, time_zone = struct.unpack('>ddHc0Hc0', rule)
  local next_ms, last_ms, last_job, runs, known_ms, complete = struct.unpack('>dddddB', progress)
  return {
    rule = rule,
    every_ms = every_ms,
    offset_ms = offset_ms,
    cron = cron,
    time_zone = time_zone,
    next_ms = next_ms,
    last_ms = last_ms,
    last_job = last_job,
    runs = runs,
    known_ms = known_ms,
    complete = complete == 1,
    times = unpack_times(times or ''),
  }
end

-- The recurrence, or nil.
local function read_recurrence(recurrences, id)
  local stored = redis.call('HMGET', recurrences, 'd' .. id, 's' .. id, 't' .. id, 'j' .. id)
  if not stored[1] then
    return nil
  end
  local recurrence, template = unpack_runs(stored[1], stored[2], stored[3]), stored[4]
  local missed, limit, until_ms, window_ms, record_at = struct.unpack('>dddd', template)
  recurrence.template = template
  recurrence.missed, recurrence.limit = missed, limit
  recurrence.until_ms, recurrence.window_ms = until_ms, window_ms
  recurrence.record = string.sub(template, record_at)
  return recurrence
end

-- Whether its known times are behind others that nobody has supplied yet, because the clock has stepped back since they
-- were; see shared/queue/catch-up.
local function is_to_be_replaced(recurrence)
  return #recurrence.times > 0 and recurrence.times[1] > recurrence.known_ms
end

local function is_short(recurrence)
  return recurrence.every_ms == 0
    and not recurrence.complete
    and (recurrence.is_held or #recurrence.times < SHORT or is_to_be_replaced(recurrence))
end

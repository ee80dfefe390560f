-- What would stand still after a step back of the server's clock until that has caught up: groups that their rate holds
-- back, and recurrences. They are looked at as long as the clock is behind, so many at a time, in turn.
local MOST_CAUGHT_UP = 100
local TURN_MS = 1000

-- The part of a sorted set whose turn it is.
local function part_of(set, now_ms)
  local parts = math.ceil(redis.call('ZCARD', set) / MOST_CAUGHT_UP)
  local from = parts > 0 and math.floor(now_ms / TURN_MS) % parts * MOST_CAUGHT_UP or 0
  return redis.call('ZRANGE', set, from, from + MOST_CAUGHT_UP - 1)
end

-- The longest time from one run to the next, as far as is known; 0: nothing is.
local function longest_gap(recurrence)
  local longest_ms, times = recurrence.every_ms, recurrence.times
  for at = 2, #times do
    longest_ms = math.max(longest_ms, times[at] - times[at - 1])
  end
  -- Of the last one before its end.
  if #times == 1 and recurrence.last_ms > 0 then
    return math.max(longest_ms, times[1] - recurrence.last_ms)
  end
  return longest_ms
end

-- A recurrence whose next run is further away than twice that goes on by the clock as it is now: it runs whenever that
-- shows one of its times, also a second time. Others only wait until the clock comes to their next run, so that what runs
-- once a day does so once a day. Times of an expression are to be supplied again, also where all up to its end were known;
-- until they are, those that are known stay. Answers how many bytes it has read of the job.
local function go_on(keys, queue, id, now_ms)
  -- Without its job, which may be large.
  local stored = redis.call('HMGET', keys.recurrences, 'd' .. id, 's' .. id, 't' .. id)
  local known = unpack_runs(stored[1], stored[2], stored[3])
  local gap_ms = longest_gap(known)
  if gap_ms == 0 or known.next_ms <= now_ms + 2 * gap_ms then
    return 0
  elseif known.every_ms == 0 and is_to_be_replaced(known) then
    return 0
  end
  local recurrence = read_recurrence(keys.recurrences, id)
  if recurrence.every_ms > 0 then
    recurrence.next_ms = next_interval(recurrence, now_ms)
  else
    recurrence.known_ms, recurrence.complete = now_ms, false
  end
  save_progress(keys, queue, id, recurrence)
  return #recurrence.record
end

local function catch_up(keys, queue, settings, now_us)
  local now_ms = math.floor(now_us / 1000)
  if is_marked(queue, GROUPS) then
    look_at_held(keys, part_of(keys.held, now_ms), now_us)
  end
  if is_marked(queue, RECURRENCES) and not settings.paused then
    -- The rest of them when it is the turn of this part again: those that go on are not far away any more.
    local bytes = 0
    for _, id in ipairs(part_of(keys.recurring, now_ms)) do
      bytes = bytes + go_on(keys, queue, id, now_ms)
      if bytes >= CALL_BYTES then
        break
      end
    end
  end
end

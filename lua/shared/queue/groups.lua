-- A rate, as the generic cell rate algorithm of shared/rate-limit/gcra: `rate_limit` starts refill in a window, and
-- `rate_burst` of them may be saved up, 0: those of a window. Jobs start while the theoretical arrival time is ahead by
-- no more than the refill time of the burst. It is further ahead if the clock has stepped back, or the rate was
-- lowered: then the burst is used up, and no more.

-- How far ahead the arrival time may be, and the cost of a start.
local function spans_of(rate)
  local unit_us = rate.rate_window_ms * 1000 / rate.rate_limit
  if rate.rate_burst == 0 then
    return rate.rate_window_ms * 1000, unit_us
  end
  -- Rounding up must not hold back the last saved start.
  local rounded_us = unit_us % 1 > 0 and math.min(rate.rate_burst - 1, math.floor(unit_us)) or 0
  return rate.rate_burst * unit_us + rounded_us, unit_us
end

local function bounded_arrival(arrival_us, rate, now_us)
  local span_us = spans_of(rate)
  return math.min(arrival_us, math.floor(now_us + span_us))
end

-- The present rate, which is about to change.
local function rate_of(settings)
  return {
    rate_limit = settings.rate_limit,
    rate_window_ms = settings.rate_window_ms,
    rate_burst = settings.rate_burst,
  }
end

-- The arrival time by another rate: as many starts are used up as by the previous one.
local function arrival_by(rate, arrival_us, before, now_us)
  local is_same = rate.rate_limit == before.rate_limit and rate.rate_window_ms == before.rate_window_ms
  if is_same or rate.rate_limit == 0 or before.rate_limit == 0 or arrival_us <= now_us then
    return arrival_us
  end
  local span_us, unit_us = spans_of(before)
  local used = math.min(arrival_us - now_us, span_us) / unit_us
  local _, other_us = spans_of(rate)
  return math.floor(now_us + used * other_us)
end

-- How many may start now. A quotient slightly below a whole number counts as that number.
local function starts_left(arrival_us, rate, now_us)
  local span_us = spans_of(rate)
  local left_us = span_us - math.max(0, arrival_us - now_us)
  return math.max(0, math.floor(left_us * rate.rate_limit / (rate.rate_window_ms * 1000) + 0.000000001))
end

-- The arrival time after so many starts. Rounded up if a burst is set, because a burst may be a single start; otherwise
-- down, as in earlier releases: a microsecond too many would hold back the last start of a window.
local function arrival_after(arrival_us, rate, now_us, starts)
  local _, unit_us = spans_of(rate)
  local round = rate.rate_burst > 0 and math.ceil or math.floor
  return math.max(arrival_us, now_us) + round(starts * unit_us)
end

-- Milliseconds until one more may start.
local function next_start_in_ms(arrival_us, rate, now_us)
  local span_us, unit_us = spans_of(rate)
  local ahead_us = math.min(arrival_us - now_us, span_us)
  return math.max(0, math.ceil((ahead_us + unit_us - span_us) / 1000))
end

-- The next time of a recurrence by an interval.
local function next_interval(recurrence, after_ms)
  local every_ms, offset_ms = recurrence.every_ms, recurrence.offset_ms
  return (math.floor((after_ms - offset_ms) / every_ms) + 1) * every_ms + offset_ms
end

-- Lets a later call see whether the clock has stepped back since this one, which claimed nothing: tokens are numbered
-- by the time, so the newest may be as new as now; see shared/queue/plain.
local function note_time(queue)
  queue.token = math.max(queue.token, queue.now_us - 1)
end

-- Groups of jobs, served round robin. Ready jobs of all groups are in one sorted set, `grouped`: the score is the
-- number of the group, the member '<rank><job>', so that a group's next job is its lowest. `turns` is the ring of
-- groups that may be served: a list of names. A group is not in the ring if it has no ready job, has reached its
-- concurrency, has no start left of its rate, or is paused; `held` has the time when a rate lets it in again.
--
-- In the hash of groups, under its name:
--   '<number> <ready> <claimed> <in_ring> <paused> <concurrency> <rate_limit> <rate_window_ms> <arrival_us>'
-- Its burst is a separate field; see shared/queue/state.

local function new_group(number)
  return {
    number = number,
    ready = 0,
    claimed = 0,
    in_ring = false,
    paused = false,
    concurrency = 0,
    rate_limit = 0,
    rate_window_ms = 0,
    rate_burst = 0,
    arrival_us = 0,
  }
end

-- The group, or nil.
local function read_group(groups, name)
  local stored = redis.call('HGET', groups, name)
  if not stored then
    return nil
  end
  local number, ready, claimed, in_ring, paused, concurrency, rate_limit, rate_window_ms, arrival_us =
    string.match(stored, '^(%d+) (%d+) (%d+) (%d) (%d) (%d+) (%d+) (%d+) (%d+)$')
  local group = {
    number = tonumber(number),
    ready = tonumber(ready),
    claimed = tonumber(claimed),
    in_ring = in_ring == '1',
    paused = paused == '1',
    concurrency = tonumber(concurrency),
    rate_limit = tonumber(rate_limit),
    rate_window_ms = tonumber(rate_window_ms),
    rate_burst = 0,
    arrival_us = tonumber(arrival_us),
  }
  if group.rate_limit > 0 then
    -- Only here: a script creates its functions again in every call.
    group.rate_burst = read_burst(groups, GROUP_BURST .. name, group)
  end
  return group
end

local function open_group(groups, queue, name)
  local group = read_group(groups, name)
  if not group then
    queue.groups = queue.groups + 1
    group = new_group(queue.groups)
  end
  return group
end

-- A group without jobs and settings is removed, once its rate has nothing to remember.
local function save_group(groups, name, group, now_us)
  local is_set = group.paused or group.concurrency > 0 or group.rate_limit > 0
  if group.ready + group.claimed == 0 and not group.in_ring and not is_set then
    redis.call('HDEL', groups, name)
    return
  end
  local arrival_us = group.arrival_us > now_us and group.arrival_us or 0
  local text = string.format(
    '%.0f %.0f %.0f %d %d %.0f %.0f %.0f %.0f',
    group.number,
    group.ready,
    group.claimed,
    group.in_ring and 1 or 0,
    group.paused and 1 or 0,
    group.concurrency,
    group.rate_limit,
    group.rate_window_ms,
    arrival_us
  )
  redis.call('HSET', groups, name, text)
end

-- For how long the rate of a group holds it back, in milliseconds from now; 0: not held back.
local function held_for_ms(group, now_us)
  if group.rate_limit == 0 then
    return 0
  end
  group.arrival_us = bounded_arrival(group.arrival_us, group, now_us)
  return next_start_in_ms(group.arrival_us, group, now_us)
end

local function hold_back(held, name, wait_ms, now_us)
  redis.call('ZADD', held, string.format('%.0f', math.floor(now_us / 1000) + wait_ms), name)
end

-- Saves a group, and puts it into the ring, or, if it may not be served now, into `held` until its rate lets it in.
-- Without the right to put it into the ring, the next claim tries again. Returns whether it is held back.
local function place_group(keys, name, group, now_us)
  local is_full = group.concurrency > 0 and group.claimed >= group.concurrency
  if group.in_ring or group.paused or group.ready == 0 or is_full then
    save_group(keys.groups, name, group, now_us)
    return false
  end
  local wait_ms = held_for_ms(group, now_us)
  group.in_ring = wait_ms == 0
  save_group(keys.groups, name, group, now_us)
  if not group.in_ring then
    hold_back(keys.held, name, wait_ms, now_us)
    return true
  elseif type(redis.pcall('RPUSH', keys.turns, name)) == 'table' then
    group.in_ring = false
    save_group(keys.groups, name, group, now_us)
    hold_back(keys.held, name, 0, now_us)
    return true
  end
  return false
end

-- Before all ranks.
local FIRST_RANK = '0000000000'

-- The greater the priority, the lower; 10 digits.
local function rank_of(priority)
  return string.format('%010.0f', 2147483648 - priority)
end

local function join_group(keys, queue, job, seq, in_front)
  local group = open_group(keys.groups, queue, job.group)
  redis.call('ZADD', keys.grouped, group.number, (in_front and FIRST_RANK or rank_of(job.priority)) .. seq)
  group.ready = group.ready + 1
  place_group(keys, job.group, group, queue.now_us)
end

-- A ready job of a group leaves it. False if it was not there.
local function leave_group(keys, job, seq, now_us)
  local group = read_group(keys.groups, job.group)
  if not group or redis.call('ZREM', keys.grouped, rank_of(job.priority) .. seq, FIRST_RANK .. seq) == 0 then
    return false
  end
  group.ready = group.ready - 1
  save_group(keys.groups, job.group, group, now_us)
  return true
end

-- A claimed job of a group is claimed no more.
local function free_in_group(keys, name, now_us)
  local group = read_group(keys.groups, name)
  if group then
    group.claimed = math.max(0, group.claimed - 1)
    place_group(keys, name, group, now_us)
  end
end

-- Groups that were held back enter the ring, or get another time.
local function look_at_held(keys, names, now_us)
  for _, name in ipairs(names) do
    local group = read_group(keys.groups, name)
    if not group or not place_group(keys, name, group, now_us) then
      redis.call('ZREM', keys.held, name)
    end
  end
end

-- Groups whose rate lets them start again enter the ring.
local function release_held(keys, now_us, most)
  local now_ms = math.floor(now_us / 1000)
  look_at_held(keys, redis.call('ZRANGEBYSCORE', keys.held, '-inf', now_ms, 'LIMIT', '0', most), now_us)
end

-- The commands after the first write if a group is set, each once on nothing; see shared/queue/state. `grows`: a server
-- out of memory rejects it here.
local function try_group(keys, queue, grows)
  if grows then
    redis.call('ZADD', keys.held, 'XX', '0', '')
  end
  redis.call('LREM', keys.turns, '0', '')
  redis.call('ZREM', keys.held, '')
  redis.call('ZADD', keys.held, 'XX', '0', '')
  redis.call('HDEL', keys.groups, '')
  if queue.began_us > 0 then
    redis.call('HSET', keys.meta, 'codec', queue.codec)
  end
end

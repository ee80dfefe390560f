-- Workers that found nothing, longest first. Each has a name, '<process>.<number>', and its process listens on
-- '<channel>:<process>' for 'come <name> 0'; behind ':' it may say that it takes jobs by letter, see shared/queue/hand-over,
-- which is no part of its name in letters. Whoever brings work calls one; one that finds more than it takes calls the
-- next, so that as many come as there is work for. A process that nobody hears is gone, and passed over.
--
-- One of them watches the time: it comes back by itself when the next job is due or the next lease ends. It stands behind
-- the others, by a greater score, and when it goes nobody watches.
local WATCHING = 1125899906842624
local IDLE_KEPT_MS = '7200000'
local MOST_GONE = 100
-- One that is so late will not come.
local LATE_MS = 1000

-- The name of the one that waits longest; nil where nobody does. It waits no more.
local function pop_idle(idle, queue)
  local popped = queue.idle > 0 and redis.call('ZPOPMIN', idle) or {}
  local name, score = popped[1], popped[2]
  if not name then
    queue.idle = 0
    return nil
  end
  queue.idle = queue.idle - 1
  if tonumber(score) >= WATCHING then
    queue.watch_ms = 0
  end
  return name
end

-- False when it is certain that it is gone.
local function tell_idle(worker, word, text, how)
  local name = string.match(worker, '^[^:]*')
  return tell_process({ id = name, listens = 1 }, word .. ' ' .. name .. ' ' .. text, how)
end

local function call_idle(idle, queue, count, how)
  for _ = 1, MOST_GONE do
    local name = count > 0 and pop_idle(idle, queue)
    if not name then
      return
    end
    if tell_idle(name, 'come', '0', how) then
      count = count - 1
    end
  end
end

-- Answers whether it was still waiting.
local function leave_idle(idle, queue, name)
  local score = queue.idle > 0 and name ~= '' and redis.call('ZSCORE', idle, name)
  if score then
    redis.call('ZREM', idle, name)
    queue.idle = queue.idle - 1
    if tonumber(score) >= WATCHING then
      queue.watch_ms = 0
    end
  end
  return score
end

local function stand_idle(idle, queue, name, watches)
  queue.idlers = queue.idlers + 1
  if redis.call('ZADD', idle, queue.idlers + (watches and WATCHING or 0), name) == 1 then
    queue.idle = queue.idle + 1
    redis.call('PEXPIRE', idle, IDLE_KEPT_MS)
  end
end

local function is_watched(queue, now_ms)
  return queue.watch_ms + LATE_MS > now_ms
end

-- What comes at that time must be seen by somebody.
local function see_to(idle, queue, due_ms, now_ms, how)
  if queue.idle > 0 and (not is_watched(queue, now_ms) or due_ms < queue.watch_ms) then
    call_idle(idle, queue, 1, how)
  end
end

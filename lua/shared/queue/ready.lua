-- Where ready jobs stand: those of a group in `grouped` (see shared/queue/groups), those with a priority in
-- `prioritized`, all others in the list `ready`.
--
-- The list is never searched. A job that leaves it other than from its front leaves its number behind, a ghost,
-- which is passed over when it comes to the front. Should the job have come back to the list meanwhile, it is taken
-- where it stands first, and the other number is the ghost. Whoever leaves some sweeps the list; see shared/queue/sweep.
-- `queue.left`: how many there were before.

-- Marks; see shared/queue/marks. Of RETURNED also jobs that are gone again.
local PRIORITIES, RETURNED = 1, 64

-- Also of a job that waits for others, and will stand there: the ack that makes it ready may claim it, and tries what that needs before.
-- What came back while there were no groups is brought among the priorities now; see shared/queue/bring-returned.
local function mark_place(queue, job)
  if job.group ~= '' then
    set_mark(queue, GROUPS)
    if is_marked(queue, RETURNED) then
      set_mark(queue, PRIORITIES)
    end
  elseif job.priority ~= 0 then
    set_mark(queue, PRIORITIES)
  end
end

-- A lost job without group goes to the front of the list only where that is served first: beside groups it is one of many.
-- Should others come that are served before the list, it is brought before them; see shared/queue/bring-returned.
-- Answers whether it stands: not where it needs a right to the list that the user misses.
local function stand_ready(keys, queue, job, seq, in_front, now_us)
  mark_place(queue, job)
  if job.group ~= '' then
    join_group(keys, queue, job, seq, in_front, now_us)
  elseif job.priority ~= 0 or (in_front and (is_marked(queue, PRIORITIES) or is_marked(queue, GROUPS))) then
    set_mark(queue, PRIORITIES)
    redis.call('ZADD', keys.prioritized, in_front and IN_FRONT or -job.priority, seq)
  elseif in_front then
    set_mark(queue, RETURNED)
    return type(redis.pcall('LPUSH', keys.ready, seq)) == 'number'
  else
    return type(redis.pcall('RPUSH', keys.ready, seq)) == 'number'
  end
  return true
end

-- As stand_ready, of so many bytes. Where it cannot stand it is due at once, and comes to stand with all that is. Answers its state.
local function place_ready(keys, queue, job, seq, size, state, now_us)
  if stand_ready(keys, queue, job, seq, state == 'b', now_us) then
    queue.ready = queue.ready + size
    return state
  end
  local now_ms = math.floor(now_us / 1000)
  redis.call('ZADD', keys.scheduled, string.format('%.0f', now_ms), seq)
  note_due(queue, now_ms)
  queue.scheduled = queue.scheduled + size
  return 's'
end

-- Takes a ready job from where it stands.
local function leave_ready(keys, queue, job, seq, now_us)
  if job.group ~= '' then
    leave_group(keys.grouped, keys.groups, job, seq, now_us)
  elseif not is_marked(queue, PRIORITIES) or redis.call('ZREM', keys.prioritized, seq) == 0 then
    queue.left = queue.left or queue.ghosts
    queue.ghosts = queue.ghosts + 1
  end
end

local function is_above(count, least)
  return type(count) == 'number' and count > least
end

-- Whether more is ready, as far as is known without looking at each.
local function has_more(keys, queue)
  return is_above(redis.pcall('LLEN', keys.ready), queue.ghosts)
    or (is_marked(queue, PRIORITIES) and is_above(redis.pcall('ZCARD', keys.prioritized), 0))
    or (is_marked(queue, GROUPS) and is_above(redis.pcall('LLEN', keys.turns), 0))
end

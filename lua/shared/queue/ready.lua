-- Where ready jobs stand: those of a group in `grouped` (see shared/queue/groups), those with a priority in
-- `prioritized`, all others in the list `ready`.
--
-- The list is never searched. A job that leaves it other than from its front leaves its number behind, a ghost,
-- which is passed over when it comes to the front.

local function stand_ready(
  ready,
  prioritized,
  grouped,
  groups,
  turns,
  held,
  queue,
  job,
  seq,
  in_front,
  now_us
)
  if job.group ~= '' then
    set_mark(queue, GROUPS)
    join_group(grouped, groups, turns, held, queue, job, seq, now_us)
  elseif job.priority ~= 0 then
    set_mark(queue, PRIORITIES)
    redis.call('ZADD', prioritized, -job.priority, seq)
  elseif in_front then
    redis.call('LPUSH', ready, seq)
  else
    redis.call('RPUSH', ready, seq)
  end
end

-- Takes a ready job from where it stands.
local function leave_ready(prioritized, grouped, groups, queue, job, seq, now_us)
  if job.group ~= '' then
    leave_group(grouped, groups, job, seq, now_us)
  elseif job.priority ~= 0 then
    redis.call('ZREM', prioritized, seq)
  else
    queue.ghosts = queue.ghosts + 1
  end
end

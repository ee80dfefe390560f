-- Calls on many jobs end behind the one that reaches this, and the others are for the next call: 2 for a job, 4 for one with
-- options, and 1 for each of its parents; or where they have moved as many bytes as a call may.
local MOST_WORK = 2000

local function may_displace_more(queue)
  return (queue.work or 0) < MOST_WORK and (queue.moved or 0) < CALL_BYTES
end

-- Takes a job that is not claimed from where it stands, whatever its state.
local function displace(keys, queue, seq, job, run, size, now_us)
  local state = run and run.state or 'r'
  queue.work = (queue.work or 0) + (job.is_plain and 2 or 4)
  if state == 's' then
    redis.call('ZREM', keys.scheduled, seq)
    queue.scheduled = queue.scheduled - size
  elseif state == 'w' then
    unblock(keys, queue, seq, run)
    leave_parents(keys, queue, seq, redis.call('HGET', keys.jobs, 'd' .. seq) or '')
  elseif state == 'd' then
    leave_dead(keys, queue, seq, run)
  elseif state == 'f' then
    redis.call('ZREM', keys.done, seq)
    queue.done = queue.done - size
  else
    leave_ready(keys, queue, job, seq, now_us)
    queue.ready = queue.ready - size
  end
end

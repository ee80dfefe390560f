-- @include shared/queue/work

-- Takes a job that is not claimed from where it stands, whatever its state.
local function displace(keys, queue, seq, job, run, size, now_us)
  local state = run and run.state or 'r'
  count_work(queue, job)
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

-- Takes a job that is not claimed from where it stands, whatever its state.
local function displace(
  jobs,
  prioritized,
  scheduled,
  grouped,
  groups,
  dead,
  failed,
  kinds,
  done,
  queue,
  seq,
  job,
  run,
  size,
  now_us
)
  local state = run and run.state or 'r'
  if state == 's' then
    redis.call('ZREM', scheduled, seq)
    queue.scheduled = queue.scheduled - size
  elseif state == 'd' then
    leave_dead(jobs, dead, failed, kinds, queue, seq, run)
  elseif state == 'f' then
    redis.call('ZREM', done, seq)
    queue.done = queue.done - size
  else
    leave_ready(prioritized, grouped, groups, queue, job, seq, now_us)
    queue.ready = queue.ready - size
  end
end

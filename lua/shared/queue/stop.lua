-- The worker of a cancelled job gives it up: the job is removed.
local function stop_job(jobs, leases, ids, groups, turns, held, queue, seq, now_us)
  local stored = redis.call('HMGET', jobs, seq, 'r' .. seq)
  local job, run = read_job(stored[1]), unpack_run(stored[2])
  redis.call('ZREM', leases, seq)
  end_claim(groups, turns, held, queue, job, run, now_us)
  erase_job(jobs, ids, seq, job)
  queue.cancelled = queue.cancelled + 1
end

-- The worker of a cancelled job gives it up: the job is removed.
local function stop_job(keys, queue, seq, now_us)
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
  local job, run = read_job(stored[1], queue.usual), unpack_run(stored[2])
  redis.call('ZREM', keys.leases, seq)
  end_claim(keys, queue, job, run, now_us)
  cancel_job(keys, queue, seq, job, run)
end

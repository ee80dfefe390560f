-- What the time brings: scheduled jobs that are due become ready.
local function show_due(keys, queue, now_us, most)
  local now_ms = math.floor(now_us / 1000)
  local due = redis.call('ZRANGEBYSCORE', keys.scheduled, '-inf', now_ms, 'WITHSCORES', 'LIMIT', '0', most)
  for at = 1, #due, 2 do
    local seq, due_ms = due[at], tonumber(due[at + 1])
    local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
    local job = stored[1] and read_job(stored[1], queue.usual)
    -- One that may not stand there yet is still due.
    local stands = not job or stand_ready(keys, queue, job, seq, false, now_us)
    if stands then
      redis.call('ZREM', keys.scheduled, seq)
    end
    if job and stands then
      local run = unpack_run(stored[2])
      queue.scheduled, queue.ready = queue.scheduled - run.size, queue.ready + run.size
      redis.call(
        'HSET',
        keys.jobs,
        'r' .. seq,
        pack_run('r', run.token, run.attempts, due_ms, run.size, run.flags, run.name)
      )
    end
  end
  return #due / 2
end

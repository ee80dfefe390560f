-- What others are told of a job that is done and kept. Its result is copied for those who come to wait for it, but for what would be
-- more than a call may read: that is told from where it is stored with the job, until this goes, or begins again.

-- To be asked for before a job goes whose run says OWED. Changes its flags, which the caller writes where there still is a run.
local function keep_end(keys, queue, seq, job, run)
  run.flags = run.flags - OWED
  if redis.call('HEXISTS', keys.jobs, 'y' .. seq) == 1 or redis.call('ZSCORE', keys.parents, seq) == '0' then
    local result = redis.call('HGET', keys.jobs, 'o' .. seq) or ''
    redis.call('HSET', keys.jobs, 'z' .. seq, pack_end('f', job.id == '' and seq or job.id, result))
    queue.moved = (queue.moved or 0) + #result
  end
end

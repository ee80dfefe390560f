-- Putting jobs into a queue.

-- A job is there from `due_ms` on; 0: at once.
local function add_job(keys, queue, seq, job, payload, due_ms, now_us)
  local record = full_head(job) .. payload
  local size = #record
  if due_ms == 0 then
    redis.call('HSET', keys.jobs, seq, record)
    stand_ready(keys, queue, job, seq, false, now_us)
    queue.ready = queue.ready + size
  else
    redis.call('HSET', keys.jobs, seq, record, 'r' .. seq, pack_run('s', 0, 0, due_ms, size, 0, job.name))
    redis.call('ZADD', keys.scheduled, string.format('%.0f', due_ms), seq)
    note_due(queue, due_ms)
    queue.scheduled = queue.scheduled + size
  end
  if job.tags ~= '' then
    enter_tags(keys.tagged, seq, job.tags)
  end
end

-- A job that waits for others; see shared/queue/parents.
local function add_blocked(keys, queue, seq, job, payload, now_ms)
  local record = full_head(job) .. payload
  redis.call(
    'HSET',
    keys.jobs,
    seq,
    record,
    'r' .. seq,
    pack_run('w', 0, 0, now_ms, #record, CHILD, job.name)
  )
  redis.call('ZADD', keys.blocked, seq, seq)
  if job.tags ~= '' then
    enter_tags(keys.tagged, seq, job.tags)
  end
  queue.blocked = queue.blocked + #record
end

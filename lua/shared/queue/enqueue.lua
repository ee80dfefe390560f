-- Putting jobs into a queue.

-- A job is there from `due_ms` on; 0: at once.
local function add_job(keys, queue, seq, job, payload, due_ms, now_us)
  local fields, size, flags = record_fields(queue, seq, full_head(job), payload)
  if due_ms == 0 then
    if flags ~= 0 then
      add_run(fields, seq, pack_run('r', 0, 0, math.floor(now_us / 1000), size, flags, job.name))
    end
    redis.call('HSET', keys.jobs, unpack(fields))
    if place_ready(keys, queue, job, seq, size, 'r', now_us) == 's' then
      local run = pack_run('s', 0, 0, math.floor(now_us / 1000), size, flags, job.name)
      redis.call('HSET', keys.jobs, 'r' .. seq, run)
    end
  else
    add_run(fields, seq, pack_run('s', 0, 0, due_ms, size, flags, job.name))
    redis.call('HSET', keys.jobs, unpack(fields))
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
  local fields, size, flags = record_fields(queue, seq, full_head(job), payload)
  add_run(fields, seq, pack_run('w', 0, 0, now_ms, size, with_flag(flags, CHILD), job.name))
  redis.call('HSET', keys.jobs, unpack(fields))
  redis.call('ZADD', keys.blocked, seq, seq)
  mark_place(queue, job)
  if job.tags ~= '' then
    enter_tags(keys.tagged, seq, job.tags)
  end
  queue.blocked = queue.blocked + size
end

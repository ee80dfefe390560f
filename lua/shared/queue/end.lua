-- The end of a job.

-- Removes everything that is stored of a job, wherever it stood. One that was never claimed has no run.
local function erase_job(keys, queue, seq, job, run)
  if run and run.state == 'f' and has_flag(run.flags, OWED) then
    keep_end(keys, queue, seq, job, run)
  end
  redis.call(
    'HDEL',
    keys.jobs,
    seq,
    'r' .. seq,
    'e' .. seq,
    'p' .. seq,
    'o' .. seq,
    'h' .. seq,
    'l' .. seq,
    'w' .. seq
  )
  if run and has_flag(run.flags, APART) then
    redis.call('HDEL', keys.jobs, 'b' .. seq)
  end
  if not job.is_plain then
    free_names(keys.ids, job, seq)
  end
  local is_tracked = run and has_flag(run.flags, TRACKED)
  if job.tags ~= '' or is_tracked then
    leave_tags(keys.tagged, seq, job.tags, is_tracked)
  end
  if run and has_flag(run.flags, PARENT) then
    end_parent(keys, queue, seq, job.id, 'x', '')
  end
  if run and has_flag(run.flags, CHILD) then
    drop_parents(keys, queue, seq)
  end
end

-- A claimed job is claimed no more; its lease has been removed.
local function end_claim(keys, queue, job, run, now_us)
  queue.claimed = queue.claimed - run.size
  if job.group ~= '' then
    free_in_group(keys, job.group, now_us)
  end
end

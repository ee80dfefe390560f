-- The end of a job.

-- Removes everything that is stored of a job, wherever it stood.
local function erase_job(keys, queue, seq, job, flags)
  redis.call('HDEL', keys.jobs, seq, 'r' .. seq, 'e' .. seq, 'p' .. seq, 'o' .. seq)
  if not job.is_plain then
    free_names(keys.ids, job, seq)
  end
  if flags > PLAIN then
    if has_flag(flags, PARENT) then
      end_parent(keys, queue, seq, job.id, 'x', '')
    end
    if has_flag(flags, CHILD) then
      drop_parents(keys, seq)
    end
  end
end

-- A claimed job is claimed no more; its lease has been removed.
local function end_claim(keys, queue, job, run, now_us)
  queue.claimed = queue.claimed - run.size
  if job.group ~= '' then
    free_in_group(keys, job.group, now_us)
  end
end

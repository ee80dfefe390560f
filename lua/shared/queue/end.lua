-- The end of a job.

-- Removes everything that is stored of a job, wherever it stood.
local function erase_job(jobs, ids, seq, job)
  redis.call(
    'HDEL',
    jobs,
    seq,
    'r' .. seq,
    'e' .. seq,
    'p' .. seq,
    'o' .. seq,
    'h' .. seq,
    'l' .. seq,
    'w' .. seq
  )
  if not job.is_plain then
    free_names(ids, job, seq)
  end
end

-- A claimed job is claimed no more; its lease has been removed.
local function end_claim(keys, queue, job, run, now_us)
  queue.claimed = queue.claimed - run.size
  if job.group ~= '' then
    free_in_group(keys, job.group, now_us)
  end
end

-- The end of a job that was cancelled, and stands nowhere any more.
local function cancel_job(keys, queue, seq, job, run)
  happened(queue, 'cancelled', seq, job, run, '')
  note_end(queue, keys.jobs, seq, job, run, 'x', '', '', '')
  erase_job(keys, queue, seq, job, run)
  queue.cancelled = queue.cancelled + 1
  count_job(queue, 'c', run.name)
end

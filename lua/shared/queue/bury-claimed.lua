-- The end of a job that was claimed until now, and is dead.
local function bury_claimed(keys, queue, seq, job, run, kind, message, now_ms)
  note_history(keys.jobs, seq, run, 'b', now_ms, run.at_ms, kind)
  happened(queue, 'buried', seq, job, run, kind)
  note_end(queue, keys.jobs, seq, job, run, 'd', kind, message, '')
  bury_job(keys, queue, seq, job, run, kind, message, now_ms)
end

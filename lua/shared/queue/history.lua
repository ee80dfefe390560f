-- The history of a job costs nothing as long as it is enqueued, claimed and acked: its number says when it was enqueued, its
-- run when it was claimed last. All else is noted, in the hash of jobs under 'h' and its number: the first entry and the
-- newest 99. An entry is what happened, when, in which attempt and under which token, when that was claimed, and the kind of
-- the failure.
--   what  t retried, l reclaimed (lost), g released (given back), b buried, q requeued, x to stop, f acked (finished)
local MOST_HISTORY = 100

-- Changes the flags of the run, which the caller writes.
local function note_history(jobs, seq, run, what, at_ms, claimed_ms, kind)
  local stored = has_flag(run.flags, STORED) and redis.call('HGET', jobs, 'h' .. seq)
  local entry = struct.pack('>c1dHdd', what, at_ms, run.attempts, run.token, claimed_ms) .. kind
  redis.call('HSET', jobs, 'h' .. seq, add_entry(stored, entry, MOST_HISTORY, 1))
  run.flags = flagged(run.flags, STORED)
end

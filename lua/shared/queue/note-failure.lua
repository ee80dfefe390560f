-- Remembers why a job failed last; see shared/queue/failure.
local function note_failure(jobs, seq, at_ms, kind, message)
  redis.call('HSET', jobs, 'e' .. seq, pack_failure(at_ms, kind, message))
end

-- Taking back what lost workers held.

local LOST = 'lost'
local LOST_MESSAGE = 'the lease ended before the job did'

-- Jobs whose lease has ended are ready again, before all that wait (those of a group, before the others of it), or dead
-- where that was their last attempt.
-- Answers how many there were.
local function reclaim_lost(keys, queue, now_us, most)
  local now_ms = math.floor(now_us / 1000)
  local lost = redis.call('ZRANGEBYSCORE', keys.leases, '-inf', now_ms, 'LIMIT', '0', most)
  -- From the last to the first: each goes before the one that was lost later.
  for at = #lost, 1, -1 do
    local seq = lost[at]
    local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
    redis.call('ZREM', keys.leases, seq)
    if stored[1] then
      local job, run = read_job(stored[1], queue.usual), unpack_run(stored[2])
      end_claim(keys, queue, job, run, now_us)
      if run.state == 'x' then
        cancel_job(keys, queue, seq, job, run)
      elseif run.attempts >= job.max_attempts then
        bury_claimed(keys, queue, seq, job, run, LOST, LOST_MESSAGE, now_ms)
        count_job(queue, 'd', run.name)
      else
        happened(queue, 'reclaimed', seq, job, run, LOST)
        local state = place_ready(keys, queue, job, seq, run.size, 'b', now_us)
        note_history(keys.jobs, seq, run, 'l', now_ms, run.at_ms, '')
        redis.call(
          'HSET',
          keys.jobs,
          'r' .. seq,
          pack_run(state, run.token, run.attempts, now_ms, run.size, run.flags, run.name)
        )
        note_failure(keys.jobs, seq, now_ms, LOST, LOST_MESSAGE)
      end
      if run.state ~= 'x' then
        queue.reclaimed = queue.reclaimed + 1
        count_job(queue, 'r', run.name)
      end
    end
  end
  return #lost
end

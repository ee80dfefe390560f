-- Giving claimed jobs back, as if their attempts had never begun.

-- Before all that wait, or when a delay is over.
local function give_back(keys, queue, seq, job, run, due_ms, now_us)
  redis.call('ZREM', keys.leases, seq)
  end_claim(keys, queue, job, run, now_us)
  local now_ms = math.floor(now_us / 1000)
  happened(queue, 'released', seq, job, run, '')
  note_history(keys.jobs, seq, run, 'g', now_ms, run.at_ms, '')
  run.attempts = run.attempts - 1
  if due_ms > now_ms then
    return wait_again(keys, queue, seq, job, run, due_ms, now_us)
  end
  local state = place_ready(keys, queue, job, seq, run.size, 'b', now_us)
  redis.call(
    'HSET',
    keys.jobs,
    'r' .. seq,
    pack_run(state, run.token, run.attempts, now_ms, run.size, run.flags, run.name)
  )
end

-- Calls workers that wait: for those that are ready, for places that are free, and to come back in time.
local function call_for_returned(idle, queue, standing, soonest_ms, now_ms, how)
  if queue.idle == 0 then
    return
  end
  if soonest_ms < math.huge and frees_others(queue) then
    standing = math.max(standing, 1)
  end
  call_idle(idle, queue, math.min(standing, 8), now_ms, how)
  if soonest_ms < math.huge then
    see_to(idle, queue, soonest_ms, now_ms, how)
  end
end

-- A job that stands nowhere is ready now, as if it had never been claimed but for its token, which stays so that tokens
-- of its attempts rise. What is known of its last failure stays too.
local function begin_again(keys, queue, seq, job, run, now_us)
  local now_ms = math.floor(now_us / 1000)
  if run.state == 'f' then
    if has_flag(run.flags, OWED) then
      keep_end(keys, queue, seq, job, run)
    end
    note_history(keys.jobs, seq, run, 'f', run.at_ms, math.floor(run.token / 1000), '')
  end
  if redis.call('HEXISTS', keys.results, 'v' .. (job.id == '' and seq or job.id)) == 1 then
    -- How it ended is kept for those who ask: so is how it ends next, else they would be told what is true no more.
    run.flags = flagged(run.flags, AWAITED)
  end
  happened(queue, 'requeued', seq, job, run, '')
  note_history(keys.jobs, seq, run, 'q', now_ms, 0, '')
  local state = place_ready(keys, queue, job, seq, run.size, 'r', now_us)
  redis.call(
    'HSET',
    keys.jobs,
    'r' .. seq,
    pack_run(state, run.token, 0, now_ms, run.size, run.flags, run.name)
  )
  redis.call('HDEL', keys.jobs, 'o' .. seq)
end

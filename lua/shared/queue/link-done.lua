-- A parent that is done and kept. `queue.copied`: so many bytes of results this call has copied; see shared/queue/keep-end.
local function link_done(keys, queue, seq, record, run)
  local id, copied, result = read_job(record).id, queue.copied or 0, ''
  if copied < CALL_BYTES then
    result = redis.call('HGET', keys.jobs, 'o' .. seq) or ''
    queue.copied = copied + #result
  elseif not has_flag(run.flags, OWED) then
    local flags = flagged(run.flags, OWED)
    local packed = pack_run(run.state, run.token, run.attempts, run.at_ms, run.size, flags, run.name)
    redis.call('HSET', keys.jobs, 'r' .. seq, packed)
  end
  end_parent(keys, queue, seq, id, 'f', result)
end

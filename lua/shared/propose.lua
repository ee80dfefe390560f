-- Proposals of partitions; see shared/take-up.
local PROPOSED_MS = '60000'

-- What proves the proposal, the one before where it was not taken up yet; of which nothing is left after a minute.
local function propose(meta, layout, now)
  local proof = redis.call('HGET', meta, 'proposed')
  if proof then
    if redis.call('PTTL', meta) > 0 then
      redis.call('PEXPIRE', meta, PROPOSED_MS)
    end
    return proof
  end
  local is_new = redis.call('EXISTS', meta) == 0
  redis.call('HSET', meta, 'layout', layout, 'proposed', now)
  if is_new then
    redis.call('PEXPIRE', meta, PROPOSED_MS)
  end
  return now
end

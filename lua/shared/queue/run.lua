-- What has happened to a job, stored in the hash of jobs under 'r' and its number. A job without it is ready and was
-- never claimed.
--   state      r ready, b ready again because its lease ended, w waits for others, s scheduled, c claimed, x cancelled while
--              claimed, d dead, f done (finished)
--   token      of its newest attempt; 0: none yet
--   attempts   how often it was claimed
--   at_ms      since when it is ready, until when scheduled, when it was claimed or ended
--   size       bytes of its record
--   flags      PLAIN: a plain job (see shared/queue/job) of which nothing is stored but its record, its run and, of
--              one that was claimed more than once, its failure; else what is stored of it, and who is to be told
--   name       what statistics are counted under

local function pack_run(state, token, attempts, at_ms, size, flags, name)
  return struct.pack('>c1dHdI4Bc0', state, token, attempts, at_ms, size, flags, name)
end

local function unpack_run(packed)
  local state, token, attempts, at_ms, size, flags, name_at = struct.unpack('>c1dHdI4B', packed)
  return {
    state = state,
    token = token,
    attempts = attempts,
    at_ms = at_ms,
    size = size,
    flags = flags,
    name = string.sub(packed, name_at),
  }
end

-- Why an attempt has no say over its job any more, or nil where it has: its lease may be over, but the job
-- belongs to it until it is taken back.
local function why_not(run, token)
  if not run then
    return 'absent'
  elseif run.token ~= token then
    return 'lost'
  elseif run.state == 'c' then
    return nil
  elseif run.state == 'x' then
    return 'cancelled'
  elseif run.state == 'd' then
    return 'buried'
  elseif run.state == 'f' then
    return 'acked'
  end
  return run.state == 'b' and 'lost' or 'retried'
end

-- Idempotency keys, in the hash of ids: under 'k' and the key what a unique key that holds for a time has under its own,
-- '<job> w <ends_ms>', so that both are dropped alike. Whatever becomes of the job, a request that is sent again is
-- answered with it.
local KEY_KEPT_MS = 86400000

-- The number of the job of the first request with this key, or nil.
local function job_of_key(ids, key, now_ms)
  local seq, ends_ms = string.match(redis.call('HGET', ids, 'k' .. key) or '', '^(%d+) w (%d+)$')
  return seq and tonumber(ends_ms) > now_ms and seq or nil
end

local function remember_job_key(ids, key, seq, now_ms)
  redis.call('HSET', ids, 'k' .. key, string.format('%s w %.0f', seq, now_ms + KEY_KEPT_MS))
end

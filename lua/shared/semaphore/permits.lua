-- Granting permits and removing them; see shared/semaphore/permit.
local PERMITS_KEPT_MS = 600000

-- Removes permits, live or not.
local function forget_permits(semaphore, permits, ids, tokens)
  local known = redis.call('HMGET', ids, unpack(tokens))
  local fields = {}
  for at, token in ipairs(tokens) do
    local permit = parse_permit(known[at])
    semaphore.used = semaphore.used - permit.weight
    fields[#fields + 1] = token
    fields[#fields + 1] = 'i' .. permit.id
  end
  redis.call('ZREM', permits, unpack(tokens))
  redis.call('HDEL', ids, unpack(fields))
end

-- Looks when the next permit ends. Where none is left nothing is used.
local function look_ahead(semaphore, permits)
  local soonest = redis.call('ZRANGE', permits, '0', '0', 'WITHSCORES')[2]
  semaphore.soonest_end_ms = tonumber(soonest or 0)
  if not soonest then
    semaphore.used = 0
    semaphore.last_end_ms = 0
  end
end

-- Ends one permit that is live.
local function end_permit(semaphore, permits, ids, token, expires_at_ms)
  forget_permits(semaphore, permits, ids, { token })
  if expires_at_ms == semaphore.soonest_end_ms then
    look_ahead(semaphore, permits)
  end
end

-- Removes permits whose lease has ended; answers whether there were any. What one call leaves counts as used,
-- so the limit holds.
local function reap(semaphore, permits, ids, now_ms)
  if semaphore.used == 0 or semaphore.soonest_end_ms > now_ms then
    return false
  end
  local ended = redis.call('ZRANGEBYSCORE', permits, '-inf', now_ms, 'LIMIT', '0', MOST_REAPED)
  if ended[1] then
    forget_permits(semaphore, permits, ids, ended)
  end
  look_ahead(semaphore, permits)
  return true
end

-- In how many milliseconds the next permit ends.
local function next_end_in_ms(semaphore, now_ms)
  return math.max(1, semaphore.soonest_end_ms - now_ms)
end

-- The keys outlive the last permit, for a while.
local function keep_permits(semaphore, permits, ids, now_ms)
  local kept_ms = string.format('%.0f', semaphore.last_end_ms - now_ms + PERMITS_KEPT_MS)
  redis.call('PEXPIRE', permits, kept_ms)
  redis.call('PEXPIRE', ids, kept_ms)
end

-- Grants a ticket a permit. Answers its token and when it ends.
local function add_permit(semaphore, permits, ids, ticket, lease_ms, now_us)
  local now_ms = math.floor(now_us / 1000)
  local expires_at_ms = now_ms + lease_ms
  local soonest = semaphore.used > 0 and semaphore.soonest_end_ms or expires_at_ms
  semaphore.token = next_token(semaphore.token, now_us)
  semaphore.used = semaphore.used + ticket.units
  semaphore.soonest_end_ms = math.min(soonest, expires_at_ms)
  semaphore.last_end_ms = math.max(semaphore.last_end_ms, expires_at_ms)
  local token = string.format('%.0f', semaphore.token)
  local permit = string.format('%d %s %s', ticket.units, ticket.id, ticket.holder)
  redis.call('ZADD', permits, expires_at_ms, token)
  redis.call('HSET', ids, token, permit, 'i' .. ticket.id, token)
  keep_permits(semaphore, permits, ids, now_ms)
  return semaphore.token, expires_at_ms
end

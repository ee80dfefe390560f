-- Granting permits and removing them; see shared/semaphore/permit.
local PERMITS_KEPT_MS = 60000
-- The end of the keys is moved in steps, so that most grants need not move it.
local KEPT_STEP_MS = 600000

-- Removes permits, live or not. Answers what they were.
local function forget_permits(semaphore, permits, ids, tokens)
  local known = redis.call('HMGET', ids, unpack(tokens))
  local fields, forgotten = {}, {}
  for at, token in ipairs(tokens) do
    local permit = parse_permit(known[at])
    forgotten[at] = permit
    semaphore.used = semaphore.used - permit.weight
    fields[#fields + 1] = token
    fields[#fields + 1] = 'i' .. permit.id
  end
  redis.call('ZREM', permits, unpack(tokens))
  redis.call('HDEL', ids, unpack(fields))
  return forgotten
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

-- In how many milliseconds the next permit ends.
local function next_end_in_ms(semaphore, now_ms)
  return math.max(1, semaphore.soonest_end_ms - now_ms)
end

-- In which step the keys go: they outlive the last permit, for a while.
local function last_step(semaphore)
  return math.floor((semaphore.last_end_ms + PERMITS_KEPT_MS) / KEPT_STEP_MS) + 1
end

local function keep_permits(semaphore, permits, ids, now_ms)
  local kept_ms = string.format('%.0f', last_step(semaphore) * KEPT_STEP_MS - now_ms)
  redis.call('PEXPIRE', permits, kept_ms)
  redis.call('PEXPIRE', ids, kept_ms)
end

-- The token of the next permit, as text.
local function new_token(semaphore, now_us)
  return string.format('%.0f', next_token(semaphore.token, now_us))
end

-- An attempt that asks for what it was offered gets it for the whole lease. Answers when it ends.
local function confirm_permit(semaphore, permits, ids, token, ends_at_ms, lease_ms, now_ms)
  local expires_at_ms = math.max(ends_at_ms, now_ms + lease_ms)
  semaphore.last_end_ms = math.max(semaphore.last_end_ms, expires_at_ms)
  -- Before ZADD, for a full server takes this as the first write.
  keep_permits(semaphore, permits, ids, now_ms)
  redis.call('ZADD', permits, 'XX', expires_at_ms, token)
  if ends_at_ms == semaphore.soonest_end_ms then
    look_ahead(semaphore, permits)
  end
  return expires_at_ms
end

-- Grants a ticket a permit.
local function add_permit(semaphore, permits, ids, ticket, token, expires_at_ms, now_ms)
  local first, step = semaphore.used == 0, last_step(semaphore)
  local soonest = first and expires_at_ms or semaphore.soonest_end_ms
  semaphore.token = token
  semaphore.used = semaphore.used + ticket.units
  semaphore.soonest_end_ms = math.min(soonest, expires_at_ms)
  semaphore.last_end_ms = math.max(semaphore.last_end_ms, expires_at_ms)
  local permit = ticket.units .. ' ' .. ticket.id .. ' ' .. ticket.holder
  redis.call('ZADD', permits, expires_at_ms, token)
  redis.call('HSET', ids, token, permit, 'i' .. ticket.id, token)
  if first or last_step(semaphore) ~= step then
    keep_permits(semaphore, permits, ids, now_ms)
  end
end

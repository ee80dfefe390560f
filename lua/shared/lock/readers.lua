-- The leases of a shared lock: a sorted set of tokens by the time at which they end, and a hash that leads
-- from the id of an attempt to its token ('i<id>'), and from the token to id and holder.
local READERS_KEPT_MS = 600000

-- The token that this attempt has got, and when it ends, if it is live; else nil twice, and the token if there is one. Nobody reads
-- while the lock is not shared, whatever the time says that has stepped back since a lease ended.
local function reading_of(lock, readers, reader_ids, id, now_ms)
  local token = redis.call('HGET', reader_ids, 'i' .. id)
  local expires_at_ms = token and tonumber(redis.call('ZSCORE', readers, token) or 0)
  if lock.mode == 's' and expires_at_ms and expires_at_ms > now_ms then
    return tonumber(token), expires_at_ms
  end
  return nil, nil, token
end

-- Answers the id of its attempt.
local function forget_reader(readers, reader_ids, token)
  local id = string.match(redis.call('HGET', reader_ids, token) or '', '^%S*')
  redis.call('ZREM', readers, token)
  -- The attempt may have got another lease since.
  if redis.call('HGET', reader_ids, 'i' .. id) == token then
    redis.call('HDEL', reader_ids, 'i' .. id)
  end
  redis.call('HDEL', reader_ids, token)
  return id
end

-- Removes leases that have ended, and notes in the lock what is left. Of one that is free all have: whoever wants it alone sees that
-- they have, and does not remove them.
local function count_readers(lock, readers, reader_ids, now_ms)
  if lock.mode == 'x' then
    return
  end
  local until_ms = lock.mode == 's' and now_ms or '+inf'
  local ended = redis.call('ZRANGEBYSCORE', readers, '-inf', until_ms, 'WITHSCORES', 'LIMIT', '0', '1000')
  for at = 1, #ended, 2 do
    local id = forget_reader(readers, reader_ids, ended[at])
    note_late(lock, id, ended[at], ended[at + 1])
  end
  if lock.mode ~= 's' then
    return
  end
  local last = redis.call('ZRANGE', readers, '-1', '-1', 'WITHSCORES')
  lock.expires_at_ms = tonumber(last[2] or 0)
  if not last[1] then
    lock.mode = 'l'
  end
end

-- An attempt that asks for what it was offered gets it for the whole lease. Answers when it ends.
local function confirm_reader(lock, readers, reader_ids, token, ends_at_ms, lease_ms, now_ms)
  local expires_at_ms = math.max(ends_at_ms, now_ms + lease_ms)
  lock.expires_at_ms = math.max(lock.expires_at_ms, expires_at_ms)
  redis.call('PEXPIRE', readers, lock.expires_at_ms - now_ms + READERS_KEPT_MS)
  redis.call('PEXPIRE', reader_ids, lock.expires_at_ms - now_ms + READERS_KEPT_MS)
  redis.call('ZADD', readers, 'XX', expires_at_ms, token)
  return expires_at_ms
end

local function add_reader(lock, readers, reader_ids, ticket, lease_ms, now_us)
  local now_ms = math.floor(now_us / 1000)
  local expires_at_ms = now_ms + lease_ms
  lock.token = string.format('%.0f', next_token(lock.token, now_us))
  lock.expires_at_ms = lock.mode == 's' and math.max(lock.expires_at_ms, expires_at_ms) or expires_at_ms
  lock.mode = 's'
  lock.id = ''
  lock.holder = ''
  redis.call('HSET', reader_ids, 'i' .. ticket.id, lock.token, lock.token, ticket.id .. ' ' .. ticket.holder)
  redis.call('ZADD', readers, expires_at_ms, lock.token)
  redis.call('PEXPIRE', readers, lock.expires_at_ms - now_ms + READERS_KEPT_MS)
  redis.call('PEXPIRE', reader_ids, lock.expires_at_ms - now_ms + READERS_KEPT_MS)
  return expires_at_ms
end

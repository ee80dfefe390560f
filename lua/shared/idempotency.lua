-- Idempotency keys of messages: '<id> <forget_at_ms>' under the key. Expired ones are dropped by sampling whenever keys
-- are added, which needs no index and keeps them fewer than the valid ones.

-- The id of the message that was appended with this key, or nil.
local function id_of_key(once, key, now_ms)
  local id, forget_at_ms = string.match(redis.call('HGET', once, key) or '', '^(%d+) (%d+)$')
  return id and tonumber(forget_at_ms) > now_ms and tonumber(id) or nil
end

local function remember_key(once, key, id, forget_at_ms)
  redis.call('HSET', once, key, string.format('%.0f %.0f', id, forget_at_ms))
end

-- `added`: how many keys were added.
local function forget_old_keys(once, added, now_ms)
  drop_over(once, 2 + 2 * added, function(known)
    return tonumber(string.match(known, ' (%d+)$')) <= now_ms
  end)
end

-- Redis expires the hash some time after the newest key is over. Other keys may have a longer TTL.
local function keep_keys(once, idempotency_ttl_ms)
  if redis.call('PTTL', once) < idempotency_ttl_ms then
    redis.call('PEXPIRE', once, string.format('%.0f', idempotency_ttl_ms + 600000))
  end
end

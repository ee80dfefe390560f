-- Idempotency keys of messages: '<id> <forget_at_ms>' under the key. Forgotten ones are dropped by
-- sampling whenever keys come in, which keeps them a small share without an index.

-- The id of the message that was appended with this key, or nil.
local function id_of_key(once, key, now_ms)
  local id, forget_at_ms = string.match(redis.call('HGET', once, key) or '', '^(%d+) (%d+)$')
  return id and tonumber(forget_at_ms) > now_ms and tonumber(id) or nil
end

local function remember_key(once, key, id, forget_at_ms)
  redis.call('HSET', once, key, string.format('%.0f %.0f', id, forget_at_ms))
end

local function forget_old_keys(once, now_ms)
  -- The embedded demo engine does not know the command; it keeps nothing for long anyway.
  local sample = redis.pcall('HRANDFIELD', once, '4', 'WITHVALUES')
  for at = 1, #sample, 2 do
    local forget_at_ms = string.match(sample[at + 1], ' (%d+)$')
    if tonumber(forget_at_ms) <= now_ms then
      redis.call('HDEL', once, sample[at])
    end
  end
end

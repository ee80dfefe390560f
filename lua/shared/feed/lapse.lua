-- Claims end: by their time, or because the holder gives them back.

-- Makes messages free again, in their old places: all of them, or none where a right is missing. It frees first, also of a server out of
-- memory.
local function give_back(claimed, returned, work, places)
  redis.call('HDEL', work, '')
  redis.call('ZADD', returned, 'XX', '0', '')
  redis.call('ZREM', claimed, unpack(places))
  local scored = {}
  for _, place in ipairs(places) do
    scored[#scored + 1] = place
    scored[#scored + 1] = place
  end
  redis.call('ZADD', returned, unpack(scored))
end

-- The lease goes last: it leads to what is left of the claim.
local function forget_lease(leases, work, token)
  redis.call('HDEL', work, lease_field(token))
  redis.call('ZREM', leases, token)
end

-- Frees what claims held whose lease ran out: at least one claim, then up to `budget` messages.
local function lapse_claims(leases, claimed, returned, work, now_ms, budget)
  local freed = 0
  for _, token in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now_ms, 'LIMIT', '0', '100')) do
    local places = places_held(claimed, token)
    if freed > 0 and freed + #places > budget then
      break
    end
    if #places > 0 then
      give_back(claimed, returned, work, places)
    end
    forget_lease(leases, work, token)
    freed = freed + #places
  end
  return freed
end

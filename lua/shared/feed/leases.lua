-- Claims. `claimed` leads from a message's position to the token of its claim, `leases` from a token to
-- the time at which the claim ends, `returned` holds messages that were claimed and are free again.
-- A message after `front` has never been claimed; one up to it is claimed, returned or gone.

local function lease_field(token)
  return 'lease:' .. token
end

local function is_live(leases, token, now_ms)
  local ends_at_ms = redis.call('ZSCORE', leases, token)
  return ends_at_ms and tonumber(ends_at_ms) > now_ms or false
end

local function places_held(claimed, token)
  return redis.call('ZRANGEBYSCORE', claimed, token, token)
end

-- The permits that are out: a sorted set of tokens by the time at which they end, and a hash that leads from
-- the id of an attempt to its token ('i<id>'), and from the token to '<weight> <id> <holder>'.
-- Permits whose lease has ended, removed by one call.
local MOST_REAPED = 1000

-- One that has no entry counts for nothing: a user without the right to write it was cut off there.
local function parse_permit(text)
  local weight, id, holder = string.match(text or '0 - ', '^(%d+) (%S+) (.*)$')
  return { weight = tonumber(weight), id = id, holder = holder }
end

-- The token of the permit that this attempt has got, and when it ends. Both are nil when it has none.
local function permit_of(permits, ids, id)
  local token = redis.call('HGET', ids, 'i' .. id)
  if not token then
    return nil, nil
  end
  return token, tonumber(redis.call('ZSCORE', permits, token) or 0)
end

-- The state of one key: one hash, read once a call.
--   layout, codec    the form of the stored data, and of the result
--   token            of the newest attempt; kept when the attempt ends, so that tokens keep rising
--   attempt          the id that the newest attempt's caller chose
--   fingerprint      of the request
--   lease_ends_ms    while the attempt is running; a released one has none
--   result           once the attempt is completed
--   unkept           '1' if that is empty because the result could not be kept
--   kept_until_ms    from then on only the token is valid
local ONCE_LAYOUT = '1'

local function read_once(state)
  local stored = redis.call(
    'HMGET',
    state,
    'layout',
    'codec',
    'token',
    'attempt',
    'fingerprint',
    'lease_ends_ms',
    'result',
    'kept_until_ms',
    'unkept'
  )
  return {
    layout = stored[1] or ONCE_LAYOUT,
    codec = stored[2],
    token = tonumber(stored[3] or 0),
    attempt = stored[4],
    fingerprint = stored[5] or '',
    lease_ends_ms = tonumber(stored[6] or 0),
    result = stored[7],
    kept_until_ms = tonumber(stored[8] or 0),
    kept = not stored[9],
  }
end

local function open_once(state)
  local known = read_once(state)
  if known.layout ~= ONCE_LAYOUT then
    return redis.error_reply('LAYOUT ' .. known.layout)
  end
  return nil, known
end

-- True while the key is taken: by an attempt that is running or expired, or by a result.
local function counts(known, now_ms)
  return known.kept_until_ms > now_ms and (known.result or known.lease_ends_ms > 0)
end

-- True for an attempt that has neither a result nor been released: running, expired or even forgotten.
local function is_open(known)
  return not known.result and known.lease_ends_ms > 0
end

local function is_running(known, now_ms)
  return not known.result and known.lease_ends_ms > now_ms
end

-- Redis expires the hash this long after it has become invalid and the clock is past its token: longer than any call is
-- repeated.
local SLACK_MS = 600000

-- Not rejected for lack of memory: later writes of the same script are then accepted as well.
local function keep_until(state, token, kept_until_ms, now_ms)
  redis.call('PEXPIRE', state, math.max(kept_until_ms - now_ms, behind_ms(token, now_ms)) + SLACK_MS)
end

local function holds_token(known, token)
  return known.token > 0 and known.token == token
end

-- Ends an attempt without a result: the key is free again. It only removes, so that it works when the server is out of
-- memory.
local function free_key(state, token, now_ms)
  redis.call('HDEL', state, 'lease_ends_ms', 'fingerprint')
  keep_until(state, token, now_ms, now_ms)
end

-- The load lease of one key: a hash that exists while a value is loaded, or something has to be remembered.
--   layout             the form of what follows
--   token              of the newest load
--   loader             the id that its caller chose
--   lease_ends_ms      while the load is open; absent after it was stored or given up
--   floor              a load with this token or a smaller one is revoked: it began before an invalidation
--   version            the greatest that was set
--   failed, failure    token and reason of the load that failed last, for its waiters
--   resting_until_ms   until then no load begins while a value may be served
--   waiters            ids of those who wait for the load to end
-- Its other fields are answers of calls, see shared/calls.
local LOAD_LAYOUT = '1'

local function read_load(load)
  local stored = redis.call(
    'HMGET',
    load,
    'layout',
    'token',
    'loader',
    'lease_ends_ms',
    'floor',
    'version',
    'failed',
    'failure',
    'resting_until_ms',
    'waiters'
  )
  return {
    layout = stored[1] or LOAD_LAYOUT,
    token = tonumber(stored[2] or 0),
    loader = stored[3],
    lease_ends_ms = tonumber(stored[4] or 0),
    floor = tonumber(stored[5] or 0),
    version = tonumber(stored[6] or 0),
    failed = tonumber(stored[7] or 0),
    failure = stored[8] or '',
    resting_until_ms = tonumber(stored[9] or 0),
    waiters = stored[10] or '',
  }
end

local function open_load(load)
  local known = read_load(load)
  if known.layout ~= LOAD_LAYOUT then
    return redis.error_reply('LAYOUT ' .. known.layout)
  end
  return nil, known
end

local function is_open(known)
  return known.lease_ends_ms > 0
end

local function is_revoked(known)
  return known.token <= known.floor
end

-- Redis expires the hash this long after it has become invalid and the clock is past its token: longer than any call is
-- repeated.
local LOAD_SLACK_MS = 600000

-- Never shortens the TTL. Not rejected for lack of memory.
local function keep_load(load, token, ms, now_ms)
  local kept_ms = math.max(ms, behind_ms(token, now_ms)) + LOAD_SLACK_MS
  if redis.call('PTTL', load) < kept_ms then
    redis.call('PEXPIRE', load, kept_ms)
  end
end

-- Releases the lease and wakes its waiters. The greatest token stays, so that later ones are greater. Removals come
-- first, so that this works when the server is out of memory.
local function close_load(load, known, word, how)
  redis.call('HDEL', load, 'loader', 'lease_ends_ms', 'floor', 'waiters')
  if known.floor > known.token then
    redis.call('HSET', load, 'token', exact(known.floor))
  end
  notify_waiters(known.waiters, word, how)
end

-- A load that began earlier must not be stored later: an open load is refused from now on, and the record of a failed
-- one becomes invalid. `newest`: the greatest token that was assigned, so that later ones are greater.
local function revoke(load, known, newest)
  if is_open(known) then
    redis.call('HSET', load, 'floor', exact(newest))
  elseif known.token > 0 then
    redis.call('HDEL', load, 'loader', 'failed', 'failure', 'resting_until_ms')
  end
end

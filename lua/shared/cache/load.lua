-- The load lease of one key: a hash that is there while a value is loaded, or something has to be remembered.
--   layout             the form of what follows
--   token              of the newest load
--   loader             the id that its caller chose
--   lease_ends_ms      while the load is open; none once it was stored or given up
--   floor              a load with this token or a smaller one is revoked: it began before an invalidation
--   version            the greatest that was set
--   failed, failure    token and reason of the load that failed last, for those who waited for it
--   resting_until_ms   until then no load begins while there is something to serve
--   waiters            ids of those who wait for the load to end
-- Its other fields are answers of calls, see shared/calls.
local LOAD_LAYOUT = '1'

local function open_load(load)
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

local function is_open(known)
  return known.lease_ends_ms > 0
end

local function is_revoked(known)
  return known.token <= known.floor
end

-- The main key of a lock, one text: '<layout> <mode> <token> <expires_at_ms> <last_ticket> <called> <id>
-- <holder>'.
--   mode           x: one holder; s: shared; -: given back; l: the lease ran out
--   token          the newest one granted; it outlives its lease, so that tokens rise
--   expires_at_ms  when the lease ends; of a shared lock, the last of its leases
--   last_ticket    number of the newest ticket; 0: nobody waits, and the queue is not looked at
--   called         '<until_ms>/<id>' of one who was told to come and has not come yet; 0: nobody
--   id, holder     of the attempt that holds it alone, or held it
local LOCK_LAYOUT = '1'

-- Takes apart what is stored. A lock of an unknown layout has nothing but `layout`. The token stays text: it is compared and copied.
local function read_lock(stored)
  stored = stored or '1 - 0 0 0 0  '
  local layout, mode, token, expires_at_ms, last_ticket, called, id, holder =
    string.match(stored, '^(%d+) (.) (%d+) (%d+) (%d+) (%S+) (%S*) (.*)$')
  if layout ~= LOCK_LAYOUT then
    return { layout = string.match(stored, '^%S*') }
  end
  return {
    layout = layout,
    mode = mode,
    token = token,
    -- Giving a lock back leaves the end of its lease in the text.
    expires_at_ms = mode == '-' and 0 or tonumber(expires_at_ms),
    last_ticket = tonumber(last_ticket),
    called = called,
    id = id,
    holder = holder,
  }
end

local function is_held(lock, now_ms)
  return (lock.mode == 'x' or lock.mode == 's') and lock.expires_at_ms > now_ms
end

-- Notes that time has ended the lease.
local function lapse(lock, now_ms)
  if lock.mode ~= '-' and not is_held(lock, now_ms) then
    lock.mode = 'l'
  end
end

local function is_free(lock)
  return lock.mode == '-' or lock.mode == 'l'
end

-- The main key of a lock, one text: '<layout> <mode> <token> <expires_at_ms> <last_ticket> <id> <holder>'.
--   mode           x: one holder; s: shared; -: given back; l: the lease ran out
--   token          the newest one granted; it outlives its lease, so that tokens rise
--   expires_at_ms  when the lease ends; of a shared lock, the last of its leases
--   last_ticket    number of the newest ticket; 0: nobody waits, and the queue is not looked at
--   id, holder     of the attempt that holds it alone, or held it
local LOCK_LAYOUT = '1'
-- How long a lock that nobody uses is remembered.
local LOCK_KEPT_MS = 600000
-- One with waiters outlives the longest wait.
local AWAITED_LOCK_KEPT_MS = 7200000

-- A lock of an unknown layout has nothing but `layout`.
local function open_lock(state)
  local stored = redis.call('GET', state)
  if not stored then
    return {
      layout = LOCK_LAYOUT,
      mode = '-',
      token = 0,
      expires_at_ms = 0,
      last_ticket = 0,
      id = '',
      holder = '',
    }
  end
  local layout, mode, token, expires_at_ms, last_ticket, id, holder =
    string.match(stored, '^(%d+) (%S) (%d+) (%d+) (%d+) (%S*) (.*)$')
  if layout ~= LOCK_LAYOUT then
    return { layout = string.match(stored, '^%S*') }
  end
  return {
    layout = layout,
    mode = mode,
    token = tonumber(token),
    expires_at_ms = tonumber(expires_at_ms),
    last_ticket = tonumber(last_ticket),
    id = id,
    holder = holder,
  }
end

local function lock_text(lock)
  return string.format(
    '%s %s %.0f %.0f %d %s %s',
    LOCK_LAYOUT,
    lock.mode,
    lock.token,
    lock.expires_at_ms,
    lock.last_ticket,
    lock.id,
    lock.holder
  )
end

local function lock_kept_ms(lock, now_ms)
  local kept_ms = lock.last_ticket > 0 and AWAITED_LOCK_KEPT_MS or LOCK_KEPT_MS
  return math.max(0, lock.expires_at_ms - now_ms) + kept_ms
end

local function save_lock(state, lock, now_ms)
  redis.call('SET', state, lock_text(lock), 'PX', lock_kept_ms(lock, now_ms))
end

-- As `save_lock`, for a call that gives something back: its first write is one that a full server takes.
local function save_freed_lock(state, lock, now_ms)
  redis.call('PEXPIRE', state, lock_kept_ms(lock, now_ms))
  redis.call('SET', state, lock_text(lock), 'KEEPTTL')
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

-- The main key of a lock, one text: '<layout> <mode> <token> <expires_at_ms> <last_ticket> <called> <id>
-- <holder>'.
--   mode           x: one holder; s: shared; -: released; l: the lease expired
--   token          the newest one granted; it outlives its lease, so that tokens rise
--   expires_at_ms  when the lease ends; of a shared lock, the last of its leases
--   last_ticket    number of the newest ticket; 0: no waiters, and the queue is not read
--   called         '<until_ms>/<id>' of a waiter that was called and has not come yet; 0: none
--   id, holder     of the attempt that holds it exclusively, or held it
local LOCK_LAYOUT = '1'

-- Parses the stored state. A lock of an unknown layout has nothing but `layout`. The token stays text: it is compared
-- and copied. The table also has the time of the call, and, for calls that hand the lock on, `claim_ms` and `how`; see
-- shared/line.
local function read_lock(stored, now_us)
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
    -- Releasing a lock leaves the end of its lease in the text.
    expires_at_ms = mode == '-' and 0 or tonumber(expires_at_ms),
    last_ticket = tonumber(last_ticket),
    called = called,
    id = id,
    holder = holder,
    now_us = now_us,
    now_ms = math.floor(now_us / 1000),
  }
end

local function open_lock(stored, now_us)
  local lock = read_lock(stored, now_us)
  if lock.layout ~= LOCK_LAYOUT then
    return redis.error_reply('LAYOUT ' .. lock.layout)
  end
  return nil, lock
end

local function is_held(lock)
  return (lock.mode == 'x' or lock.mode == 's') and lock.expires_at_ms > lock.now_ms
end

-- Notes that the lease has expired.
local function lapse(lock)
  if lock.mode ~= '-' and not is_held(lock) then
    lock.mode = 'l'
  end
end

local function is_free(lock)
  return lock.mode == '-' or lock.mode == 'l'
end

-- How long an unused lock is remembered; one with waiters outlives the longest wait.
local LOCK_KEPT_MS = 600000
local AWAITED_LOCK_KEPT_MS = 7200000

-- The TTL of the key of a lock whose lease lasts so much longer. Nearly always a constant text: a number would be
-- formatted for the command.
local function kept_ms_after(left_ms, awaited)
  local kept_ms = awaited and AWAITED_LOCK_KEPT_MS or LOCK_KEPT_MS
  if left_ms > kept_ms then
    return left_ms + kept_ms
  end
  return awaited and '14400000' or '1200000'
end

-- Writes the main key of a lock.

-- Milliseconds and ticket numbers have fewer digits than Lua writes.
local function lock_text(lock)
  local times = lock.token .. ' ' .. lock.expires_at_ms .. ' ' .. lock.last_ticket
  return LOCK_LAYOUT
    .. ' '
    .. lock.mode
    .. ' '
    .. times
    .. ' '
    .. lock.called
    .. ' '
    .. lock.id
    .. ' '
    .. lock.holder
end

local function lock_kept_ms(lock)
  local left_ms = lock.expires_at_ms - lock.now_ms
  -- As shared/clock-steps does, without calls: locks that are waited for are saved often.
  local behind = lock.token / 1000 - lock.now_ms
  if behind > left_ms then
    left_ms = math.ceil(behind)
  end
  return kept_ms_after(left_ms, lock.last_ticket > 0)
end

local function save_lock(state, lock)
  redis.call('SET', state, lock_text(lock), 'PX', lock_kept_ms(lock))
end

-- As `save_lock`, for a call that releases something: a full server rejects a call whose first write may need memory,
-- but accepts it after another one.
local function save_freed_lock(state, lock)
  local text, kept_ms = lock_text(lock), lock_kept_ms(lock)
  local saved = redis.pcall('SET', state, text, 'PX', kept_ms)
  if saved.err then
    redis.call('PEXPIRE', state, kept_ms)
    redis.call('SET', state, text, 'PX', kept_ms)
  end
end

-- The token of the next holder, as text.
local function new_token(lock)
  return string.format('%.0f', next_token(lock.token, lock.now_us))
end

-- Makes the attempt the exclusive holder.
local function grant(lock, id, holder, token, expires_at_ms)
  lock.mode = 'x'
  lock.token = token
  lock.expires_at_ms = expires_at_ms
  lock.id = id
  lock.holder = holder
end

-- The fast path of a lock whose line need not be read: reads and writes its state as text, field for field as
-- `read_lock` and `save_lock` do, without parsing it. All other cases take the slow path.

-- The newest token of a free lock and, as text, the following fields about its line. A lock with a line is only for
-- barging callers that are not in it. Nil for the attempt that released the lock.
local function free_token(stored, id, passes)
  if not stored then
    return '0', '0 0'
  end
  local token, last_id = string.match(stored, '^1 %- (%d+) %d+ 0 0 (%S*)')
  if token then
    return last_id ~= id and token, '0 0'
  end
  local last_ticket, called
  token, last_ticket, called, last_id = string.match(stored, '^1 %- (%d+) %d+ (%d+) (%S+) (%S*)')
  if token and last_id ~= id and passes then
    return token, last_ticket .. ' ' .. (called_id(called) == id and '0' or called)
  end
  return nil
end

-- True if this token is held until then, and no waiter has to be notified of its release.
local function is_quickly_given_back(stored, token, now_ms)
  local known, expires_at_ms, last_ticket, called = string.match(stored or '', '^1 x (%d+) (%d+) (%d+) (%S+)')
  return known == token
    and tonumber(expires_at_ms) > now_ms
    and (last_ticket == '0' or is_called(called, now_ms))
end

-- A value that remembers the greatest token that wrote it, and the call that did: '<process> <number>'.
local FENCED_LAYOUT = '1'

local function read_fenced(fenced)
  local stored = redis.call('HMGET', fenced, 'layout', 'codec', 'token', 'value', 'by')
  local process, call = string.match(stored[5] or '', '^(%S*) (%d+)$')
  return {
    layout = stored[1] or FENCED_LAYOUT,
    codec = stored[2],
    token = tonumber(stored[3] or 0),
    value = stored[4],
    process = process,
    call = tonumber(call),
  }
end

local function open_fenced(fenced)
  local stored = read_fenced(fenced)
  if stored.layout ~= FENCED_LAYOUT then
    return redis.error_reply('LAYOUT ' .. stored.layout)
  end
  return nil, stored
end

-- Writes the main key of a lock; see shared/lock/state.

-- Milliseconds and ticket numbers have fewer digits than Lua writes.
local function lock_text(lock)
  return LOCK_LAYOUT
    .. (' ' .. lock.mode .. ' ' .. lock.token .. ' ')
    .. (lock.expires_at_ms .. ' ' .. lock.last_ticket .. ' ' .. lock.called .. ' ')
    .. (lock.id .. ' ' .. lock.holder)
end

local function lock_kept_ms(lock, now_ms)
  local kept_ms = lock.last_ticket > 0 and AWAITED_LOCK_KEPT_MS or LOCK_KEPT_MS
  return math.max(0, lock.expires_at_ms - now_ms) + kept_ms
end

local function save_lock(state, lock, now_ms)
  redis.call('SET', state, lock_text(lock), 'PX', lock_kept_ms(lock, now_ms))
end

-- As `save_lock`, for a call that gives something back: a full server refuses a call whose first write may
-- need memory, and takes it behind another.
local function save_freed_lock(state, lock, now_ms)
  local kept_ms = lock_kept_ms(lock, now_ms)
  local saved = redis.pcall('SET', state, lock_text(lock), 'PX', kept_ms)
  if saved.err then
    redis.call('PEXPIRE', state, kept_ms)
    redis.call('SET', state, lock_text(lock), 'PX', kept_ms)
  end
end

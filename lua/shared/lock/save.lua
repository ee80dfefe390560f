-- Writes the main key of a lock; see shared/lock/state.

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

local function lock_kept_ms(lock, now_ms)
  local left_ms = lock.expires_at_ms - now_ms
  -- As shared/behind does, without calls: locks that are waited for are saved often.
  local behind = lock.token / 1000 - now_ms
  if behind > left_ms then
    left_ms = math.ceil(behind)
  end
  return kept_ms_after(left_ms, lock.last_ticket > 0)
end

local function save_lock(state, lock, now_ms)
  redis.call('SET', state, lock_text(lock), 'PX', lock_kept_ms(lock, now_ms))
end

-- As `save_lock`, for a call that gives something back: a full server refuses a call whose first write may
-- need memory, and takes it behind another.
local function save_freed_lock(state, lock, now_ms)
  local text, kept_ms = lock_text(lock), lock_kept_ms(lock, now_ms)
  local saved = redis.pcall('SET', state, text, 'PX', kept_ms)
  if saved.err then
    redis.call('PEXPIRE', state, kept_ms)
    redis.call('SET', state, text, 'PX', kept_ms)
  end
end

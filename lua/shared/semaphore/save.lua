-- Writes the main key of a semaphore; see shared/semaphore/state.

-- How long a semaphore that nobody uses is remembered. Longer than its permits, which go a minute to eleven after the last of
-- them has ended: permits that nobody had counted would be taken from the count of others once they are removed.
local SEMAPHORE_KEPT_MS = 720000
-- One with waiters outlives the longest wait.
local AWAITED_SEMAPHORE_KEPT_MS = 7200000
-- A limit that somebody has set is not forgotten over a quiet weekend.
local RESIZED_SEMAPHORE_KEPT_MS = 2592000000

local function semaphore_text(semaphore)
  return string.format(
    '%s %d %d %d %s %.0f %.0f %d',
    SEMAPHORE_LAYOUT,
    semaphore.limit,
    semaphore.resized,
    semaphore.used,
    semaphore.token,
    semaphore.soonest_end_ms,
    semaphore.last_end_ms,
    semaphore.last_ticket
  )
end

local function semaphore_kept_ms(semaphore, now_ms)
  local kept_ms = semaphore.last_ticket > 0 and AWAITED_SEMAPHORE_KEPT_MS or SEMAPHORE_KEPT_MS
  if semaphore.resized == 1 then
    kept_ms = RESIZED_SEMAPHORE_KEPT_MS
  end
  local left_ms = math.max(semaphore.last_end_ms - now_ms, behind_ms(semaphore.token, now_ms))
  return string.format('%.0f', left_ms + kept_ms)
end

local function save_semaphore(state, semaphore, now_ms)
  redis.call('SET', state, semaphore_text(semaphore), 'PX', semaphore_kept_ms(semaphore, now_ms))
end

-- As `save_semaphore`, for a call that gives something back: its first write is one that a full server takes.
local function save_freed_semaphore(state, semaphore, now_ms)
  redis.call('PEXPIRE', state, semaphore_kept_ms(semaphore, now_ms))
  save_semaphore(state, semaphore, now_ms)
end

local function save_changed(state, semaphore, now_ms, dirty)
  if dirty then
    save_semaphore(state, semaphore, now_ms)
  end
end

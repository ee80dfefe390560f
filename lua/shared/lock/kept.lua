-- How long a lock that nobody uses is remembered; one with waiters outlives the longest wait.
local LOCK_KEPT_MS = 600000
local AWAITED_LOCK_KEPT_MS = 7200000

-- For how long the key of a lock is kept whose lease lasts so much longer. Nearly always a text at hand: a
-- number would be printed for the command.
local function kept_ms_after(left_ms, awaited)
  local kept_ms = awaited and AWAITED_LOCK_KEPT_MS or LOCK_KEPT_MS
  if left_ms > kept_ms then
    return left_ms + kept_ms
  end
  return awaited and '14400000' or '1200000'
end

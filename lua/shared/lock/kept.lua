-- How long a lock that nobody uses is remembered.
local LOCK_KEPT_MS = 600000
-- One with waiters outlives the longest wait.
local AWAITED_LOCK_KEPT_MS = 7200000

-- What a run says beside PLAIN, a bit each; see shared/queue/flags.
--   4   AWAITED  somebody waits for the end of the job
--   8   STORED   progress, a log or a history is stored
--   16  TRACKED  somebody wants to follow it

local function is_flagged(flags, flag)
  return flags % (flag * 2) >= flag
end

-- The flags with one more: a job that has any is not PLAIN.
local function with_flag(flags, flag)
  if flags == PLAIN then
    return flag
  end
  return is_flagged(flags, flag) and flags or flags + flag
end

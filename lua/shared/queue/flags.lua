-- The flags of a run, a bit each; see shared/queue/run. A job that is PLAIN has no other.
local PLAIN = 1
-- Others wait for it, in this queue or elsewhere; see shared/queue/parents.
local PARENT = 2
-- Somebody waits for its end; see shared/queue/note-end.
local AWAITED = 4
-- Progress, a log or a history is stored.
local STORED = 8
-- Somebody wants to follow it.
local TRACKED = 16
-- It waits for others, or did.
local CHILD = 32
-- Its payload is stored apart; see shared/queue/body.
local APART = 64

-- It is done and kept, and others who wait for it, or did, are told its result from where that is stored; see shared/queue/keep-end.
local OWED = 128

-- Of the chores of a queue; see CHORES in src/queue/chores.ts.
local DELIVER = 2
local ASK_AFTER = 4

local function has_flag(flags, flag)
  return flags % (flag * 2) >= flag
end

local function with_flag(flags, flag)
  return has_flag(flags, flag) and flags or flags + flag
end

-- The flags of a run with one more.
local function flagged(flags, flag)
  return flags == PLAIN and flag or with_flag(flags, flag)
end

-- The flags of a run; see shared/queue/run. A job that is PLAIN has no other.
local PLAIN = 1
-- Others wait for it, in this queue or elsewhere; see shared/queue/parents.
local PARENT = 2
-- It waits for others, or did.
local CHILD = 32

-- Of the chores of a queue; see CHORES in src/queue/chores.ts.
local DELIVER = 2
local ASK_AFTER = 4

local function has_flag(flags, flag)
  return flags % (flag * 2) >= flag
end

local function with_flag(flags, flag)
  return has_flag(flags, flag) and flags or flags + flag
end

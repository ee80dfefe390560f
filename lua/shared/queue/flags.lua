-- The flags of a run; see shared/queue/run. A job that is PLAIN has no other.
local PLAIN = 1

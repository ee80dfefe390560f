-- A mark; see shared/queue/marks.
local RECURRENCES = 8

-- Redis keeps a hash or a sorted set of few small entries as one list, and looks for each entry from its front. What
-- a queue works with all the time is kept from that by one entry of more than 64 bytes, which no job has, and which
-- comes last: in the hash of jobs, and among the leases. It halves the cost of a batch; see docs/decisions/0014.

-- Marks; see shared/queue/marks.
local WIDE_JOBS, WIDE_LEASES = 16, 32

-- Adds the entry to what is written, where it is not there yet.
local function widen(queue, mark, written, first)
  if queue.marks % (mark * 2) < mark then
    queue.marks = queue.marks + mark
    written[#written + 1] = first
    written[#written + 1] = string.rep('~', 65)
  end
end

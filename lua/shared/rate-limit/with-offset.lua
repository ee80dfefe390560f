-- What a limit of the algorithm gcra has counted, with the offset of its subject behind it, so that a take that reads
-- nothing else knows it.
local COUNTS_BYTES = 32

local function with_offset(counts, offset_us)
  return string.sub(counts, 1, COUNTS_BYTES) .. struct.pack('>d', offset_us)
end

-- As shared/rate-limit/keep-offset, for a subject whose limits have been read.
-- @include shared/rate-limit/keep-offset

local function keep_step(state, subject, meters)
  local gcra = {}
  for place, meter in ipairs(meters) do
    local counts = subject.counts[FIRST_LIMIT + place - 1]
    if meter.algorithm == 'gcra' and counts then
      gcra[#gcra + 1] = meter.field
      gcra[#gcra + 1] = counts
    end
  end
  keep_offset(state, subject.offset_us, gcra)
end

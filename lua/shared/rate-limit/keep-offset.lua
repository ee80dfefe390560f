-- Keeps how far a subject's time is ahead of the clock, also where a take is denied, which writes nothing else: else its
-- time would stand still until one is allowed. A server that is out of memory may refuse it; the next call finds the step
-- again.
-- @include shared/rate-limit/with-offset

-- `gcra`: fields of limits of that algorithm, each with what it has counted.
local function keep_offset(state, offset_us, gcra)
  local written = { 'offset', string.format('%.0f', offset_us) }
  for at = 1, #gcra, 2 do
    written[at + 2], written[at + 3] = gcra[at], with_offset(gcra[at + 1], offset_us)
  end
  redis.pcall('HSET', state, unpack(written))
end

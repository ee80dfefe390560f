-- Keeps how far a subject's time is ahead of the clock where a take is denied, which writes nothing else: else its time
-- would stand still until one is allowed. A server that is out of memory may refuse it; the next call finds the step again.
local function keep_time(state, token, taken_us, offset_us)
  redis.pcall('HSET', state, 'time', pack_time(token, taken_us, offset_us))
end

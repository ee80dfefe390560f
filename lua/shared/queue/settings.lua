-- What people set for a queue, one text: '<paused>,<concurrency>,<rate_limit>,<rate_window_ms>,<keep_count>,<keep_ms>'.
-- 0 for a number: no limit, nothing kept. Not by spaces: what begins with two numbers is a call (see shared/calls). The burst
-- of the rate stands in a field of its own; see shared/queue/burst.

local function parse_settings(text)
  local paused, concurrency, rate_limit, rate_window_ms, keep_count, keep_ms =
    string.match(text or '0,0,0,0,0,0', '^(%d),(%d+),(%d+),(%d+),(%d+),(%d+)$')
  return {
    paused = paused == '1',
    concurrency = tonumber(concurrency),
    rate_limit = tonumber(rate_limit),
    rate_window_ms = tonumber(rate_window_ms),
    rate_burst = 0,
    keep_count = tonumber(keep_count),
    keep_ms = tonumber(keep_ms),
  }
end

local function format_settings(settings)
  return string.format(
    '%d,%.0f,%.0f,%.0f,%.0f,%.0f',
    settings.paused and 1 or 0,
    settings.concurrency,
    settings.rate_limit,
    settings.rate_window_ms,
    settings.keep_count,
    settings.keep_ms
  )
end

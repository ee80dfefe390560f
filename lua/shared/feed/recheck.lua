-- The time of the next end of a claim or of a delay, as milliseconds from now; 0 when there is none.
local function recheck_after(feed, leases, now_ms)
  local lapse_at_ms = tonumber(redis.call('ZRANGE', leases, '0', '0', 'WITHSCORES')[2] or 0)
  local visible_at_ms = math.ceil(feed.visible_at_us / 1000)
  local next_ms = lapse_at_ms
  if next_ms == 0 or (visible_at_ms > 0 and visible_at_ms < next_ms) then
    next_ms = visible_at_ms
  end
  return next_ms == 0 and 0 or math.max(1, next_ms - now_ms)
end

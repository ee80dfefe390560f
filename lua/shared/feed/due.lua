-- Whether time has made something due that no call has done yet.
local function is_due(feed, leases, now_us)
  local now_ms = math.floor(now_us / 1000)
  return has_come(feed.due_at, now_ms)
    or has_come(feed.visible_at_us, now_us)
    or redis.call('ZCOUNT', leases, '-inf', now_ms) > 0
end

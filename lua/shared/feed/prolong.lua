-- A message lives at least until its claim has ended and the grace is over.
local function prolong_entry(feed, work, expiry, entry, until_ms)
  if entry.expires_at_ms == 0 or entry.expires_at_ms >= until_ms then
    return
  end
  entry.expires_at_ms = until_ms
  redis.call('ZADD', expiry, until_ms, entry.place)
  redis.call('HSET', work, entry.place, format_work(entry))
  if feed.lives_until ~= -1 then
    feed.lives_until = math.max(feed.lives_until, until_ms)
  end
end

-- Messages live at least until their claim has ended and the grace is over. Answers those whose life
-- became longer; their records in `work` are the caller's to write.
local function prolong_entries(feed, expiry, entries, until_ms)
  local prolonged, scored = {}, {}
  for _, entry in ipairs(entries) do
    if entry.expires_at_ms ~= 0 and entry.expires_at_ms < until_ms then
      entry.expires_at_ms = until_ms
      prolonged[#prolonged + 1] = entry
      scored[#scored + 1] = until_ms
      scored[#scored + 1] = entry.place
    end
  end
  if #prolonged > 0 then
    redis.call('ZADD', expiry, unpack(scored))
    if feed.lives_until ~= -1 then
      feed.lives_until = math.max(feed.lives_until, until_ms)
    end
  end
  return prolonged
end

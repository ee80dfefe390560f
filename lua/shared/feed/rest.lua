-- A feed of lasting messages that has been emptied needs nothing but what is remembered for a while: who reads on must learn that
-- nothing is lost, who repeats a call what it did. So it goes as an idle feed of expiring messages does, unless it has
-- subscribers. A message that comes meanwhile finds it as it was.

-- False also where the user may not know: what the call is for has been done, and a refusal must not end it.
local function is_empty(feed, keys)
  local held = { redis.pcall('EXISTS', keys.subscribers), redis.pcall('XLEN', keys.log) }
  if feed.moved ~= 0 then
    held[3] = redis.pcall('XLEN', keys.early)
  end
  for _, count in ipairs(held) do
    if count ~= 0 then
      return false
    end
  end
  return true
end

-- To be asked for where the feed `may_rest`.
local function rest_when_empty(feed, keys, now_ms)
  if not is_empty(feed, keys) then
    return
  end
  redis.pcall('UNLINK', keys.log)
  if feed.moved ~= 0 then
    redis.pcall('UNLINK', keys.early)
    feed.moved = 0
  end
  -- A claim may be live though its messages were removed.
  local last_lease = redis.pcall('ZRANGE', keys.leases, '-1', '-1', 'WITHSCORES')[2]
  feed.lives_until = tonumber(last_lease or 0)
  feed.kept_until = math.max(now_ms, feed.lives_until) + IDLE_SLACK_MS
  keep_with_feed(feed, keys.meta, now_ms)
  if last_lease then
    keep_with_feed(feed, keys.leases, now_ms)
    keep_with_feed(feed, keys.work, now_ms)
  end
end

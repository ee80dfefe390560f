-- A feed of lasting messages that has been emptied needs nothing but what is remembered for a while: who reads on must learn that
-- nothing is lost, who repeats a call what it did. So it goes as an idle feed of expiring messages does, unless it has
-- subscribers. A message that comes meanwhile finds it as it was.
-- @include shared/feed/log-length
-- @include shared/feed/keep-alive

-- To be asked for where the feed `may_rest`.
local function rest_when_empty(feed, keys, now_ms)
  if log_length(feed, keys) > 0 or redis.call('EXISTS', keys.subscribers) == 1 then
    return
  end
  redis.call('UNLINK', keys.log)
  if feed.moved ~= 0 then
    redis.call('UNLINK', keys.early)
    feed.moved = 0
  end
  -- A claim may be live though its messages were removed.
  local last_lease = redis.call('ZRANGE', keys.leases, '-1', '-1', 'WITHSCORES')[2]
  feed.lives_until = tonumber(last_lease or 0)
  feed.kept_until = math.max(now_ms, feed.lives_until) + IDLE_SLACK_MS
  keep_with_feed(feed, keys.meta, now_ms)
  if last_lease then
    keep_with_feed(feed, keys.leases, now_ms)
    keep_with_feed(feed, keys.work, now_ms)
  end
end

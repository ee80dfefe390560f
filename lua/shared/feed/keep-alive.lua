-- An idle feed vanishes by itself: Redis drops its keys some time after everything in it has expired.
-- The slack makes moving that time rare, and is never shorter than a call is remembered.
local IDLE_SLACK_MS = 1200000

-- Lets a key that this call may have created go when the feed goes.
local function keep_with_feed(feed, key, now_ms)
  if feed.kept_until > 0 then
    redis.call('PEXPIRE', key, math.max(IDLE_SLACK_MS / 2, feed.kept_until - now_ms))
  end
end

-- Moves the time for all keys when the content lives longer than it, or stays.
local function keep_alive(feed, now_ms, keys)
  if feed.lives_until == -1 then
    if feed.kept_until == 0 then
      feed.kept_until = -1
    elseif feed.kept_until > 0 then
      feed.kept_until = -1
      for _, key in ipairs(keys) do
        redis.call('PERSIST', key)
      end
    end
    return
  end
  if feed.kept_until == 0 or feed.lives_until + IDLE_SLACK_MS / 2 > feed.kept_until then
    feed.kept_until = math.max(feed.lives_until, now_ms) + IDLE_SLACK_MS
    for _, key in ipairs(keys) do
      keep_with_feed(feed, key, now_ms)
    end
  end
end

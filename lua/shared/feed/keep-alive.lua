-- An idle feed vanishes by itself: Redis drops its keys some time after everything in it has expired.
-- The slack makes moving that time rare, and is never shorter than a call is remembered.
local IDLE_SLACK_MS = 1200000

-- Lets a key that this call may have created go when the feed goes.
local function keep_with_feed(feed, key, now_ms)
  if feed.kept_until > 0 then
    redis.call('PEXPIRE', key, math.max(IDLE_SLACK_MS / 2, feed.kept_until - now_ms))
  end
end

-- Whether the time has to move for all keys, because the content lives longer than it, or stays.
-- Moves it in the state of the feed.
local function must_move(feed, now_ms)
  if feed.lives_until == -1 then
    local moves = feed.kept_until > 0
    feed.kept_until = -1
    return moves
  end
  if feed.kept_until ~= 0 and feed.lives_until + IDLE_SLACK_MS / 2 <= feed.kept_until then
    return false
  end
  feed.kept_until = math.max(feed.lives_until, now_ms) + IDLE_SLACK_MS
  return true
end

-- Tells Redis the time that `must_move` has set.
local function move_keys(feed, keys, now_ms)
  for _, key in ipairs(keys) do
    if feed.kept_until == -1 then
      redis.call('PERSIST', key)
    else
      keep_with_feed(feed, key, now_ms)
    end
  end
end

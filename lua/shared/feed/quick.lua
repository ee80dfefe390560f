-- When messages can be appended without a look at anything but the log: nothing is due, all of them
-- belong to the lane or stay, and the feed is kept long enough already.
local function is_quick(feed, last, ttl_ms, now_us)
  local now_ms = math.floor(now_us / 1000)
  if feed.epoch == 0 or (feed.due_at ~= 0 and feed.due_at <= now_ms) then
    return false
  elseif feed.visible_at_us ~= 0 and feed.visible_at_us <= now_us then
    return false
  elseif ttl_ms == 0 then
    -- A feed that has been emptied, and rests, has one key; see shared/feed/rest.
    return feed.kept_until == -1 or feed.lives_until == 0
  end
  local lane_is_free = feed.lane_swept >= feed.lane_last
  if lane_is_free or ttl_ms ~= feed.lane_ms then
    return false
  end
  local expires_at_ms = math.floor(last / 1000) + ttl_ms
  return feed.kept_until == -1 or (feed.bytes > 0 and expires_at_ms + IDLE_SLACK_MS / 2 <= feed.kept_until)
end

-- Counts the messages from `first` to `last` into the state of the feed.
local function note_quick(feed, first, last, ttl_ms, meta)
  if ttl_ms == 0 then
    if feed.kept_until ~= -1 then
      redis.call('PERSIST', meta)
    end
    feed.lives_until, feed.kept_until = -1, -1
    return
  end
  feed.lane_last = last
  -- Nothing may be due although the lane has members: others may have removed them all.
  local first_expires_at_ms = math.floor(first / 1000) + ttl_ms
  if feed.due_at == 0 or first_expires_at_ms < feed.due_at then
    feed.due_at = first_expires_at_ms
  end
  if feed.lives_until ~= -1 then
    feed.lives_until = math.max(feed.lives_until, math.floor(last / 1000) + ttl_ms)
  end
end

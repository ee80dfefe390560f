-- Puts a delayed message aside; see shared/feed/parked.

local function park_message(delayed, parked, id, visible_at_us, ttl_ms, origin, body)
  redis.call('HSET', parked, exact(id), string.format('%.0f %s\n', ttl_ms, origin) .. body)
  redis.call('ZADD', delayed, exact(visible_at_us), exact(id))
end

-- Counts a message that was just parked into the state of the feed.
local function note_parked(feed, id, visible_at_us, ttl_ms)
  if feed.visible_at_us == 0 or visible_at_us < feed.visible_at_us then
    feed.visible_at_us = visible_at_us
  end
  if ttl_ms == 0 then
    feed.lives_until = -1
  elseif feed.lives_until ~= -1 then
    feed.lives_until = math.max(feed.lives_until, math.floor(id / 1000) + ttl_ms)
  end
end

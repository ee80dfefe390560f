-- Puts a delayed message aside; see shared/feed/parked.

local function park_message(feed, keys, id, visible_at_us, ttl_ms, origin, body)
  if is_large(#body) then
    redis.call('HSET', keys.bodies, exact(id), body)
    stand_apart(keys.meta, feed)
    redis.call('HSET', keys.parked, exact(id), string.format('%.0f %s %d\n', ttl_ms, origin, #body))
  else
    redis.call('HSET', keys.parked, exact(id), string.format('%.0f %s\n', ttl_ms, origin) .. body)
  end
  redis.call('ZADD', keys.delayed, exact(visible_at_us), exact(id))
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

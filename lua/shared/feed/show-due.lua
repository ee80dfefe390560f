-- Delayed messages become visible. To be asked for from `visible_at_us` on.

-- The commands that follow when a message has become visible, each once on nothing. Behind the first of them, which removes, a
-- server out of memory takes the others.
local function try_showing(feed, keys)
  redis.call('HDEL', keys.parked, '')
  redis.call('HSET', keys.meta, 'codec', feed.codec)
  redis.call('ZREM', keys.delayed, '')
  redis.call('ZADD', keys.expiry, 'XX', '0', '')
  redis.call('ZRANGE', keys.delayed, '0', '0')
end

-- Gives at most `most` due messages their positions. Answers how many became visible.
local function show_due(feed, keys, now_us, most)
  local shown, budget = 0, budget_of(most)
  try_showing(feed, keys)
  feed.last = math.max(feed.last, now_us - 1)
  local ids = redis.call('ZRANGEBYSCORE', keys.delayed, '-inf', exact(now_us), 'LIMIT', '0', most)
  for _, id in ipairs(ids) do
    if not is_left(budget) then
      break
    end
    local entry = parse_parked(tonumber(id), redis.call('HGET', keys.parked, id))
    spend(budget, 1, read_of(entry))
    if has_expired(entry, math.floor(now_us / 1000)) then
      unpark(keys.delayed, keys.parked, keys.bodies, { id }, is_large(entry.bytes))
    else
      store_late(feed, keys, entry)
      shown = shown + 1
      redis.call('ZREM', keys.delayed, id)
    end
  end
  feed.visible_at_us = tonumber(redis.call('ZRANGE', keys.delayed, '0', '0', 'WITHSCORES')[2] or 0)
  -- They are visible whatever becomes of the call.
  save_feed(keys.meta, feed)
  return shown
end

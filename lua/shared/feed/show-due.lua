-- Delayed messages become visible.
-- @include shared/feed/parked

-- Stores a message that has its id already at the next position of a log. Its life counts from its
-- id, an entry's from its position.
local function store_late(feed, log, expiry, parked, entry)
  feed.last = feed.last + 1
  local ttl_ms = '0'
  if entry.expires_at_ms ~= 0 then
    ttl_ms = exact(math.max(1, entry.expires_at_ms - math.floor(feed.last / 1000)))
  end
  add_entry(log, exact(feed.last), ttl_ms, entry.origin .. '#' .. exact(entry.id), entry.body)
  redis.call('HSET', parked, exact(entry.id), '@' .. exact(feed.last))
  feed.bytes = feed.bytes + #entry.body
  if ttl_ms == '0' then
    feed.lives_until = -1
  else
    local expires_at_ms = math.floor(feed.last / 1000) + ttl_ms
    redis.call('ZADD', expiry, expires_at_ms, exact(feed.last))
    note_expiry(feed, expires_at_ms)
  end
end

-- Gives at most `budget` due messages their positions. Answers how many became visible.
local function show_due(feed, log, expiry, delayed, parked, now_us, budget)
  if feed.visible_at_us == 0 or now_us < feed.visible_at_us then
    return 0
  end
  local shown = 0
  feed.last = math.max(feed.last, now_us - 1)
  local ids = redis.call('ZRANGEBYSCORE', delayed, '-inf', exact(now_us), 'LIMIT', '0', budget)
  for _, id in ipairs(ids) do
    local entry = parse_parked(tonumber(id), redis.call('HGET', parked, id))
    if has_expired(entry, math.floor(now_us / 1000)) then
      redis.call('HDEL', parked, id)
    else
      store_late(feed, log, expiry, parked, entry)
      shown = shown + 1
    end
    redis.call('ZREM', delayed, id)
  end
  feed.visible_at_us = tonumber(redis.call('ZRANGE', delayed, '0', '0', 'WITHSCORES')[2] or 0)
  return shown
end

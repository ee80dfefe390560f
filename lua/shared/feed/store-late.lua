-- Stores a message that has its id already at the next position of a log. Its life counts from its
-- id, an entry's from its position. A large body that comes with it, from another feed or as it was parked before such bodies
-- stood apart, is stored apart; else it is already.
local function store_late(feed, keys, entry)
  feed.last = feed.last + 1
  local place, id = exact(feed.last), exact(entry.id)
  local extra, ttl_ms = entry.origin .. '#' .. id, '0'
  if entry.expires_at_ms ~= 0 then
    ttl_ms = exact(math.max(1, entry.expires_at_ms - math.floor(feed.last / 1000)))
  end
  if is_large(entry.bytes) then
    if entry.body then
      redis.call('HSET', keys.bodies, id, entry.body)
    end
    add_large_entry(feed, keys, place, ttl_ms, extra, entry.bytes)
  else
    add_entry(keys.log, place, ttl_ms, extra, entry.body)
  end
  redis.call('HSET', keys.parked, id, '@' .. place)
  feed.bytes = feed.bytes + entry.bytes
  if ttl_ms == '0' then
    feed.lives_until = -1
  else
    local expires_at_ms = math.floor(feed.last / 1000) + ttl_ms
    redis.call('ZADD', keys.expiry, expires_at_ms, place)
    note_expiry(feed, expires_at_ms)
  end
end

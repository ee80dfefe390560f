-- Stores a message of any size in the log.

-- Stores one whose body is large and stands apart already.
local function add_large_entry(feed, keys, place, ttl_ms, extra, bytes)
  stand_apart(keys.meta, feed)
  redis.call('XADD', keys.log, place, 't', ttl_ms, 'x', extra, 's', bytes)
  feed.large = feed.large + bytes
end

-- Stores one whose place is its id.
local function add_message(feed, keys, place, ttl_ms, origin, body)
  if is_large(#body) then
    redis.call('HSET', keys.bodies, place, body)
    add_large_entry(feed, keys, place, ttl_ms, origin, #body)
  else
    add_entry(keys.log, place, ttl_ms, origin, body)
  end
end

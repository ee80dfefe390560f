-- Stores a message of any size in the log.
-- @include shared/feed/add-entry
-- @include shared/feed/body

-- Stores one whose body is large and stands apart already.
local function add_large_entry(feed, log, place, ttl_ms, extra, bytes)
  redis.call('XADD', log, place, 't', ttl_ms, 'x', extra, 's', bytes)
  feed.large = feed.large + bytes
end

-- Stores one whose place is its id.
local function add_message(feed, keys, place, ttl_ms, origin, body)
  if is_large(#body) then
    redis.call('HSET', keys.bodies, place, body)
    add_large_entry(feed, keys.log, place, ttl_ms, origin, #body)
  else
    add_entry(keys.log, place, ttl_ms, origin, body)
  end
end

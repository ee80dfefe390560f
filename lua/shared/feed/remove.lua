-- Removes messages from the log and from every index. An entry is any table with `place`, `id` and `bytes`.

-- While the log is written anew some of them are in `early`; see shared/feed/compact.
local function delete_entries(feed, keys, places)
  if feed.moved == 0 then
    redis.call('XDEL', keys.log, unpack(places))
    return
  end
  local early, late = {}, {}
  for _, place in ipairs(places) do
    local among = tonumber(place) <= feed.moved and early or late
    among[#among + 1] = place
  end
  if #early > 0 then
    redis.call('XDEL', keys.early, unpack(early))
  end
  if #late > 0 then
    redis.call('XDEL', keys.log, unpack(late))
  end
end

-- The commands that follow the first one of a removal, each once on nothing: where the right to one of them is missing, nothing goes.
-- Answers whether there is work to forget.
local function try_removal(keys)
  redis.call('HDEL', keys.work, '')
  redis.call('ZREM', keys.expiry, '')
  return redis.call('EXISTS', keys.work) == 1
end

-- For calls that write before they remove.
local function try_whole_removal(keys)
  try_removal(keys)
  redis.call('XDEL', keys.log, '0-1')
end

local function remove_entries(feed, keys, entries)
  if #entries == 0 then
    return
  end
  local has_work = try_removal(keys)
  local places, moved, large = {}, {}, {}
  for at, entry in ipairs(entries) do
    places[at] = entry.place
    feed.bytes = feed.bytes - entry.bytes
    local id = exact(entry.id)
    if id ~= entry.place then
      moved[#moved + 1] = id
    end
    if entry.bytes > INLINE_BYTES then
      large[#large + 1] = id
      feed.large = math.max(0, feed.large - entry.bytes)
    end
  end
  delete_entries(feed, keys, places)
  -- About once for each thousand messages; see shared/feed/compact.
  feed.look = feed.look or tonumber(string.sub(places[1], -3)) < #places
  redis.call('ZREM', keys.expiry, unpack(places))
  if has_work then
    redis.call('ZREM', keys.claimed, unpack(places))
    redis.call('ZREM', keys.returned, unpack(places))
    redis.call('HDEL', keys.work, unpack(places))
  end
  if #moved > 0 then
    redis.call('HDEL', keys.parked, unpack(moved))
  end
  if #large > 0 then
    redis.call('HDEL', keys.bodies, unpack(large))
  end
end

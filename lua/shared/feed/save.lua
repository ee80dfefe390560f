-- Changes to the main key of a feed; see shared/feed/meta for its fields.

-- Stores a feed that did not exist, so that its main key is there from its first write on. True when it
-- was new.
local function begin_feed(meta, feed, now_us)
  if feed.epoch ~= 0 then
    return false
  end
  feed.epoch = now_us
  redis.call('HSET', meta, 'layout', feed.layout, 'codec', feed.codec)
  if feed.partitions > 0 then
    redis.call('HSET', meta, 'partitions', feed.partitions)
  end
  return true
end

-- A server out of memory refuses this, before anything has changed. Behind what frees it would take all that grows.
local function refuse_when_full(meta, feed)
  redis.call('HSET', meta, 'codec', feed.codec)
end

local function packed_state(feed)
  local packed = struct.pack(
    '>ddddddddddddd',
    feed.epoch,
    feed.last,
    feed.front,
    feed.token,
    feed.trimmed,
    feed.bytes,
    feed.lane_ms,
    feed.lane_swept,
    feed.lane_last,
    feed.due_at,
    feed.visible_at_us,
    feed.lives_until,
    feed.kept_until
  )
  if feed.large == 0 and feed.moved == 0 then
    return packed
  end
  return packed .. struct.pack('>dd', feed.large, feed.moved)
end

-- From now on something of the feed is where only those look who know this layout.
local function stand_apart(meta, feed)
  if not feed.is_apart then
    feed.is_apart = true
    redis.call('HSET', meta, 'layout', APART_LAYOUT)
  end
end

-- Writes the state if it has changed.
local function save_feed(meta, feed)
  local packed = packed_state(feed)
  if packed ~= feed.packed then
    redis.call('HSET', meta, 'state', packed)
    feed.packed = packed
  end
end

-- Changes to the main key of a feed; see shared/feed/meta for its fields.

-- Stores a feed that did not exist, so that its main key is there from its first write on. True when it
-- was new.
local function begin_feed(meta, feed, now_us)
  if feed.epoch ~= 0 then
    return false
  end
  feed.epoch = now_us
  redis.call('HSET', meta, 'layout', feed.layout, 'codec', feed.codec)
  return true
end

-- Writes what has changed.
local function save_feed(meta, feed)
  local changed, count, was = {}, 0, feed.was
  for at = 1, #FEED_NUMBERS do
    local name = FEED_NUMBERS[at]
    local number = feed[name]
    if number ~= was[at] then
      changed[count + 1] = name
      changed[count + 2] = exact(number)
      count = count + 2
    end
  end
  if count > 0 then
    redis.call('HSET', meta, unpack(changed))
  end
end

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
  local changed = {}
  for at, name in ipairs(FEED_NUMBERS) do
    if feed[name] ~= tonumber(feed.stored[at + 2] or 0) then
      changed[#changed + 1] = name
      changed[#changed + 1] = exact(feed[name])
    end
  end
  if #changed > 0 then
    redis.call('HSET', meta, unpack(changed))
  end
end

-- Changes to the main key of a feed; see shared/feed/meta for its fields.

-- Gives a feed that did not exist its epoch. True when it was new.
local function begin_feed(feed, now_us)
  if feed.epoch ~= 0 then
    return false
  end
  feed.epoch = now_us
  return true
end

-- Writes what has changed.
local function save_feed(meta, feed)
  local changed = {}
  if not feed.stored[1] then
    changed = { 'layout', feed.layout, 'codec', feed.codec }
  end
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

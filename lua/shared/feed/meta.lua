-- A feed's main key: one hash, read once and written once a call.
--   layout, codec    the form of the stored data, and of the bodies
--   state            the numbers below, as doubles one behind the other: unpacking them costs a fraction
--                    of reading as many fields
--     epoch          server microseconds at which this life of the feed began
--     last           the newest position; positions are server microseconds and always rise
--     front          claims have looked at every message up to this position
--     token          the newest claim token
--     trimmed        the newest position that retention removed before its time
--     bytes          of all bodies in the log
--     lane_ms …      see shared/feed/expiry
--     due_at         no message expires before this time; 0: none expires
--     visible_at_us  no delayed message is due before this time; 0: none is delayed
--     lives_until    all content has expired by then; 0: no content yet; -1: some of it stays
--     kept_until     Redis drops the keys then; 0: not set yet; -1: never
local FEED_LAYOUT = '1'
local NO_STATE = string.rep('\0', 13 * 8)

-- The state of the feed. One that does not exist yet has epoch 0 and takes the caller's codec.
local function open_feed(meta, codec)
  local stored = redis.call('HMGET', meta, 'layout', 'codec', 'state')
  local feed =
    { layout = stored[1] or FEED_LAYOUT, codec = stored[2] or codec, packed = stored[3] or NO_STATE }
  -- An unknown layout may have another state; the caller refuses it before it looks.
  if feed.layout == FEED_LAYOUT then
    local state, rest = feed.packed, 8 * 6 + 1
    feed.epoch, feed.last, feed.front, feed.token, feed.trimmed, feed.bytes = struct.unpack('>dddddd', state)
    feed.lane_ms, feed.lane_swept, feed.lane_last, feed.due_at = struct.unpack('>dddd', state, rest)
    feed.visible_at_us, feed.lives_until, feed.kept_until = struct.unpack('>ddd', state, rest + 8 * 4)
  end
  return feed
end

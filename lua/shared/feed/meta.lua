-- A feed's main key: one hash, read once and written once a call.
--   layout, codec    the form of the stored data, and of the bodies
--   epoch            server microseconds at which this life of the feed began
--   last             the newest position; positions are server microseconds and always rise
--   front            claims have looked at every message up to this position
--   token            the newest claim token
--   trimmed          the newest position that retention removed before its time
--   bytes            of all bodies in the log
--   lane_ms …        see shared/feed/expiry
--   due_at           no message expires before this time; 0: none expires
--   visible_at_us    no delayed message is due before this time; 0: none is delayed
--   lives_until      all content has expired by then; 0: no content yet; -1: some of it stays
--   kept_until       Redis drops the keys then; 0: not set yet; -1: never
local FEED_LAYOUT = '1'
local FEED_NUMBERS = {
  'epoch',
  'last',
  'front',
  'token',
  'trimmed',
  'bytes',
  'lane_ms',
  'lane_swept',
  'lane_last',
  'due_at',
  'visible_at_us',
  'lives_until',
  'kept_until',
}

-- The state of the feed. One that does not exist yet has epoch 0 and takes the caller's codec.
-- `was` is the state as it is stored.
local function open_feed(meta, codec)
  local stored = redis.call('HMGET', meta, 'layout', 'codec', unpack(FEED_NUMBERS))
  local feed, was = { layout = stored[1] or FEED_LAYOUT, codec = stored[2] or codec }, {}
  for at = 1, #FEED_NUMBERS do
    local number = tonumber(stored[at + 2]) or 0
    feed[FEED_NUMBERS[at]] = number
    was[at] = number
  end
  feed.was = was
  return feed
end

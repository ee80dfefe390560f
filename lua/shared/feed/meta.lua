-- A feed's main key: one hash, read once and written once a call.
--   layout, codec    the form of the stored data, and of the bodies; the layout is 2 from the first message on whose body stands
--                    apart or that is in `early`, which those who know only 1 would not find
--   partitions       over how many the feed is spread, where this is one of them; see shared/take-up
--   <caller>         the record of a slot; see shared/calls
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
--     lives_until    all content has expired by then; 0: no content yet, or any more; -1: some of it stays
--     kept_until     Redis drops the keys then; 0: not set yet; -1: never
--     and, where one of them is not 0:
--     large          of `bytes` those of large bodies; see shared/feed/body
--     moved          the messages up to this position are in `early`; 0: none is; see shared/feed/compact
local FEED_LAYOUT, APART_LAYOUT = '1', '2'
local STATE_BYTES = 13 * 8

-- The state of the feed, and the record of the caller's slot if it names one. A feed that does not exist
-- yet has epoch 0 and takes the caller's codec.
local function open_feed(meta, codec, caller)
  local stored = redis.call('HMGET', meta, 'layout', 'codec', 'state', caller or '', 'partitions')
  local layout, packed = stored[1] or FEED_LAYOUT, stored[3] or string.rep('\0', STATE_BYTES)
  local is_apart = layout == APART_LAYOUT
  if is_apart then
    layout = FEED_LAYOUT
  end
  -- An unknown layout may have another state; the caller refuses it before it looks.
  local readable = layout == FEED_LAYOUT and packed or string.rep('\0', STATE_BYTES)
  local epoch, last, front, token, trimmed, bytes, rest = struct.unpack('>dddddd', readable)
  local lane_ms, lane_swept, lane_last, due_at, visible_at_us, lives_until, kept_until, tail =
    struct.unpack('>ddddddd', readable, rest)
  local large, moved = 0, 0
  if #readable > STATE_BYTES then
    large, moved = struct.unpack('>dd', readable, tail)
  end
  -- One constructor: a table that grows field by field is copied again and again.
  return {
    layout = layout,
    is_apart = is_apart,
    codec = stored[2] or codec,
    packed = packed,
    record = stored[4],
    partitions = tonumber(stored[5] or 0),
    epoch = epoch,
    last = last,
    front = front,
    token = token,
    trimmed = trimmed,
    bytes = bytes,
    lane_ms = lane_ms,
    lane_swept = lane_swept,
    lane_last = lane_last,
    due_at = due_at,
    visible_at_us = visible_at_us,
    lives_until = lives_until,
    kept_until = kept_until,
    large = large,
    moved = moved,
  }
end

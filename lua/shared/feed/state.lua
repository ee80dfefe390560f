-- A feed's main key: one hash, read once and written once a call.
--   layout, codec    the form of the stored data, and of the bodies; the layout is 2 from the first message whose body is
--                    stored apart or that is in `early`, which clients that know only 1 would not find
--   partitions       number of partitions of the feed, if this is one of them; see shared/agreement
--   <caller>         the record of a slot; see shared/calls
--   state            the numbers below, packed as doubles: unpacking them costs a fraction of reading as many fields
--     epoch          server microseconds at which this life of the feed began
--     last           the newest position; positions are server microseconds and always rise
--     front          claims have looked at every message up to this position
--     token          the newest claim token
--     trimmed        the newest position that retention removed before its time
--     bytes          of all bodies in the log
--     lane_ms …      see shared/feed/retention
--     due_at         no message expires before this time; 0: none expires
--     visible_at_us  no delayed message is due before this time; 0: none is delayed
--     lives_until    all content has expired by then; 0: no content; -1: some of it never expires
--     kept_until     Redis expires the keys then; 0: not set yet; -1: never
--     and, if one of them is not 0:
--     large          of `bytes` those of large bodies; see shared/feed/entries
--     moved          the messages up to this position are in `early`; 0: none is; see shared/feed/compact
local FEED_LAYOUT, APART_LAYOUT = '1', '2'
local STATE_BYTES = 13 * 8

-- The state of the feed, and the record of the caller's slot if it has one. A feed that does not exist yet has epoch 0
-- and takes the caller's codec. Operations that read the clock store the time of the call in it, `now_us` and `now_ms`.
local function read_feed(meta, codec, caller)
  local stored = redis.call('HMGET', meta, 'layout', 'codec', 'state', caller or '', 'partitions')
  local layout, packed = stored[1] or FEED_LAYOUT, stored[3] or string.rep('\0', STATE_BYTES)
  local is_apart = layout == APART_LAYOUT
  if is_apart then
    layout = FEED_LAYOUT
  end
  -- An unknown layout may have another state; the caller refuses it first.
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

-- Refuses a call for data of another layout, or, if `codec` and `partitions` are given, of another codec or number of
-- partitions.
local function refusal_of_feed(feed, codec, partitions)
  if feed.layout ~= FEED_LAYOUT then
    return redis.error_reply('LAYOUT ' .. feed.layout)
  elseif codec and feed.codec ~= codec then
    return redis.error_reply('CODEC ' .. feed.codec)
  elseif partitions and feed.partitions > 0 and feed.partitions ~= partitions then
    return redis.error_reply('PARTITIONS ' .. feed.partitions)
  end
  return nil
end

local function open_feed(meta, caller, codec, partitions)
  local feed = read_feed(meta, codec or '', caller)
  return refusal_of_feed(feed, codec, partitions), feed
end

-- Changes to the main key of a feed; see shared/feed/meta for its fields.

-- Stores a feed that did not exist, so that its main key exists from its first write on. True if it was new.
local function begin_feed(meta, feed)
  if feed.epoch ~= 0 then
    return false
  end
  feed.epoch = feed.now_us
  redis.call('HSET', meta, 'layout', feed.layout, 'codec', feed.codec)
  if feed.partitions > 0 then
    redis.call('HSET', meta, 'partitions', feed.partitions)
  end
  return true
end

-- A server out of memory rejects this, before anything has changed. After a removal it would accept all growth.
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

-- From now on some data of the feed is in places that only clients with this layout know.
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

-- Saves the feed and remembers the call, in one write.
local function save_feed_and_call(meta, feed, call_id, answer)
  if call_id.caller == '' then
    return save_feed(meta, feed)
  end
  local record = call_record(call_id, feed.now_ms, answer)
  local added = redis.call('HSET', meta, 'state', packed_state(feed), call_id.caller, record)
  forget_old_calls(meta, call_id, added, feed.now_ms)
end

-- Whether an emptied feed with lasting messages may expire, according to its state; see `rest_when_empty`.
local function may_rest(feed)
  return feed.bytes == 0 and feed.kept_until == -1 and feed.visible_at_us == 0 and feed.epoch ~= 0
end

-- An emptied feed of lasting messages needs only what is remembered for a while: readers must learn that nothing is
-- lost, and repeated calls get their answers. So it expires as an idle feed of expiring messages does, unless it has
-- subscribers. A message that arrives meanwhile finds it unchanged.

-- False also if the user has no right to ask: the work of the call is done, and an error must not end it.
local function is_empty(keys, feed)
  local held = { redis.pcall('EXISTS', keys.subscribers), redis.pcall('XLEN', keys.log) }
  if feed.moved ~= 0 then
    held[3] = redis.pcall('XLEN', keys.early)
  end
  for _, count in ipairs(held) do
    if count ~= 0 then
      return false
    end
  end
  return true
end

-- Call this if the feed `may_rest`.
local function rest_when_empty(keys, feed)
  if not is_empty(keys, feed) then
    return
  end
  redis.pcall('UNLINK', keys.log)
  if feed.moved ~= 0 then
    redis.pcall('UNLINK', keys.early)
    feed.moved = 0
  end
  -- A claim may be live though its messages were removed.
  local last_lease = redis.pcall('ZRANGE', keys.leases, '-1', '-1', 'WITHSCORES')[2]
  feed.lives_until = tonumber(last_lease or 0)
  feed.kept_until = math.max(feed.now_ms, feed.lives_until) + IDLE_SLACK_MS
  keep_with_feed(feed, keys.meta)
  if last_lease then
    keep_with_feed(feed, keys.leases)
    keep_with_feed(feed, keys.work)
  end
end

-- An idle feed expires: Redis drops its keys some time after everything in it has expired. The slack makes moving that
-- time rare, and is never shorter than a call is remembered.
local IDLE_SLACK_MS = 1200000

-- Makes a key that this call may have created expire with the feed.
local function keep_with_feed(feed, key)
  if feed.kept_until > 0 then
    redis.call('PEXPIRE', key, math.max(IDLE_SLACK_MS / 2, feed.kept_until - feed.now_ms))
  end
end

-- Whether the expiry of all keys has to move, because the content lives longer, or forever. Moves it in the state of
-- the feed.
local function must_move(feed)
  if feed.lives_until == -1 then
    local moves = feed.kept_until > 0
    feed.kept_until = -1
    return moves
  end
  if feed.kept_until ~= 0 and feed.lives_until + IDLE_SLACK_MS / 2 <= feed.kept_until then
    return false
  end
  feed.kept_until = math.max(feed.lives_until, feed.now_ms) + IDLE_SLACK_MS
  return true
end

-- Sets the expiry that `must_move` has computed.
local function move_keys(feed, moving)
  for _, key in ipairs(moving) do
    if feed.kept_until == -1 then
      redis.call('PERSIST', key)
    else
      keep_with_feed(feed, key)
    end
  end
end

-- Whether messages can be appended by looking at the log only: nothing is due, all of them belong to the lane or never
-- expire, and the feed is kept long enough already.
local function is_quick(feed, last, ttl_ms)
  if feed.epoch == 0 or (feed.due_at ~= 0 and feed.due_at <= feed.now_ms) then
    return false
  elseif feed.visible_at_us ~= 0 and feed.visible_at_us <= feed.now_us then
    return false
  elseif ttl_ms == 0 then
    -- An emptied feed at rest has one key; see `rest_when_empty`.
    return feed.kept_until == -1 or feed.lives_until == 0
  end
  local lane_is_free = feed.lane_swept >= feed.lane_last
  if lane_is_free or ttl_ms ~= feed.lane_ms then
    return false
  end
  local expires_at_ms = math.floor(last / 1000) + ttl_ms
  return feed.kept_until == -1 or (feed.bytes > 0 and expires_at_ms + IDLE_SLACK_MS / 2 <= feed.kept_until)
end

-- Counts the messages from `first` to `last` into the state of the feed.
local function note_quick(feed, first, last, ttl_ms, meta)
  if ttl_ms == 0 then
    if feed.kept_until ~= -1 then
      redis.call('PERSIST', meta)
    end
    feed.lives_until, feed.kept_until = -1, -1
    return
  end
  feed.lane_last = last
  -- Nothing may be due although the lane has members: others may have removed them all.
  local first_expires_at_ms = math.floor(first / 1000) + ttl_ms
  if feed.due_at == 0 or first_expires_at_ms < feed.due_at then
    feed.due_at = first_expires_at_ms
  end
  if feed.lives_until ~= -1 then
    feed.lives_until = math.max(feed.lives_until, math.floor(last / 1000) + ttl_ms)
  end
end

-- Expiry without a pass over the messages. Most feeds give most messages the same life, and those
-- expire in the order of their positions: they form the lane (`lane_ms`), which needs no index.
-- Everything up to `lane_swept` has been looked at; `lane_last` is the newest member. Messages with
-- another life, and those that a claim prolonged, stand in the sorted set `expiry`. What has expired goes with shared/feed/reap.

local function note_expiry(feed, expires_at_ms)
  if feed.due_at == 0 or expires_at_ms < feed.due_at then
    feed.due_at = expires_at_ms
  end
  if feed.lives_until ~= -1 then
    feed.lives_until = math.max(feed.lives_until, expires_at_ms)
  end
end

-- Takes a new message that expires into the lane, or adds its score and member to `indexed`.
local function plan_expiry(feed, position, ttl_ms, indexed)
  local expires_at_ms = math.floor(position / 1000) + ttl_ms
  if feed.lane_swept >= feed.lane_last then
    feed.lane_ms = ttl_ms
    feed.lane_swept = position - 1
  end
  if ttl_ms == feed.lane_ms then
    feed.lane_last = position
  else
    indexed[#indexed + 1] = expires_at_ms
    indexed[#indexed + 1] = exact(position)
  end
  note_expiry(feed, expires_at_ms)
end

local function index_expiry(expiry, indexed)
  if #indexed > 0 then
    redis.call('ZADD', expiry, unpack(indexed))
  end
end

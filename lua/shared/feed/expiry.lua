-- Expiry without a pass over the messages. Most feeds give most messages the same life, and those
-- expire in the order of their positions: they form the lane (`lane_ms`), which needs no index.
-- Everything up to `lane_swept` has been looked at; `lane_last` is the newest member. Messages with
-- another life, and those that a claim prolonged, stand in the sorted set `expiry`.

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

-- Members of the lane that have expired; moves `lane_swept` over what was looked at.
local function sweep_lane(feed, log, expiry, now_ms, budget)
  local upto = math.min((now_ms - feed.lane_ms) * 1000 + 999, feed.lane_last)
  local expired = {}
  if feed.lane_swept >= upto then
    return expired
  end
  local entries = entries_between(log, exact(feed.lane_swept + 1), exact(upto), budget)
  for _, entry in ipairs(entries) do
    if entry.ttl_ms == feed.lane_ms and not redis.call('ZSCORE', expiry, entry.place) then
      expired[#expired + 1] = entry
    end
  end
  feed.lane_swept = #entries < budget and upto or entries[#entries].position
  return expired
end

-- Entries whose time in the index has come.
local function indexed_and_expired(log, expiry, now_ms, budget)
  local expired = {}
  local places = redis.call('ZRANGEBYSCORE', expiry, '-inf', now_ms, 'LIMIT', '0', budget)
  for _, place in ipairs(places) do
    local entry = entry_at(log, place)
    if entry then
      expired[#expired + 1] = entry
    else
      redis.call('ZREM', expiry, place)
    end
  end
  return expired
end

-- When to look again: at the next expiry, or at that of a message in between that is not in the lane.
local function next_due(feed, log, expiry)
  local soonest = redis.call('ZRANGE', expiry, '0', '0', 'WITHSCORES')
  local due_at = tonumber(soonest[2] or 0)
  local next_entry = entries_between(log, exact(feed.lane_swept + 1), exact(feed.lane_last), 1)[1]
  if next_entry then
    local lane_due = math.floor(next_entry.position / 1000) + feed.lane_ms
    due_at = due_at == 0 and lane_due or math.min(due_at, lane_due)
  end
  return due_at
end

-- Removes at most 2 x `most` expired messages, fewer where bodies are large.
local function reap_expired(feed, log, claimed, returned, expiry, work, parked, now_ms, most)
  if feed.due_at == 0 or now_ms < feed.due_at then
    return
  end
  local budget = next_chunk(most, redis.call('XLEN', log), feed.bytes)
  local swept = sweep_lane(feed, log, expiry, now_ms, budget)
  remove_entries(feed, log, claimed, returned, expiry, work, parked, swept)
  local indexed = indexed_and_expired(log, expiry, now_ms, budget)
  remove_entries(feed, log, claimed, returned, expiry, work, parked, indexed)
  feed.due_at = next_due(feed, log, expiry)
end

-- Retention: removes messages of the log beyond `keep`, oldest first, up to the smallest cursor of a protected
-- subscriber. Slower readers get a gap.

local function is_surplus(surplus, entry)
  return surplus.count > 0 or surplus.bytes > 0 or entry.position <= surplus.before
end

-- Picks the messages to remove from these oldest ones. Moves `trimmed` past them, and subtracts them.
local function pick_surplus(feed, surplus, entries)
  local going = {}
  for _, entry in ipairs(entries) do
    if entry.position > surplus.guard or not is_surplus(surplus, entry) then
      break
    end
    going[#going + 1] = entry
    surplus.count = surplus.count - 1
    surplus.bytes = surplus.bytes - entry.bytes
    if not has_expired(entry, feed.now_ms) then
      feed.trimmed = entry.position
    end
  end
  return going
end

-- Removes surplus messages, oldest first, until the budget is used up, or at most so many surplus bytes remain.
local function remove_surplus(keys, feed, surplus, budget, most_bytes)
  repeat
    local wanted = at_once(budget)
    local entries = entries_between(keys, feed, 1, surplus.upto, wanted)
    -- A claim may have extended their TTLs.
    complete_entries(keys.work, entries)
    local going = pick_surplus(feed, surplus, entries)
    for _, entry in ipairs(going) do
      spend(budget, 1, read_of(entry))
    end
    remove_entries(keys, feed, going)
  until #going < wanted or not is_left(budget) or surplus.bytes <= most_bytes
end

-- Removes at most `most` messages; of surplus bytes as many as the call has added, `added_bytes`, or those of 2,000
-- messages if that is more.
local function apply_retention(keys, feed, keep, most, added_bytes)
  local surplus = {
    count = keep.count == 0 and 0 or log_length(keys, feed) - keep.count,
    bytes = keep.bytes == 0 and 0 or feed.bytes - keep.bytes,
    before = keep.ms == 0 and 0 or feed.now_us - keep.ms * 1000,
    guard = math.huge,
    upto = '+',
  }
  local is_too_much = surplus.bytes > 0 or surplus.count > 0
  if not is_too_much and surplus.before == 0 then
    return
  elseif surplus.bytes <= 0 and surplus.count > 0 and surplus.before == 0 then
    most = math.min(most, surplus.count)
  end
  -- No message after it is removed, and so none is read there.
  local guard = tonumber(redis.call('ZRANGE', keys.guards, '0', '0', 'WITHSCORES')[2] or math.huge)
  local last = is_too_much and guard or math.min(surplus.before, guard)
  surplus.guard, surplus.upto = guard, last < math.huge and exact(last) or '+'
  local most_bytes, budget = surplus.bytes - added_bytes, budget_of(most, added_bytes)
  remove_surplus(keys, feed, surplus, budget, -math.huge)
  if not is_left(budget) and surplus.bytes > math.max(0, most_bytes) then
    remove_surplus(keys, feed, surplus, budget_of(2000, added_bytes), most_bytes)
  end
end

-- Removes messages from the log and from every index. An entry is any table with `place`, `id` and `bytes`.

-- During compaction some of them are in `early`; see shared/feed/compact.
local function delete_entries(keys, feed, places)
  if feed.moved == 0 then
    redis.call('XDEL', keys.log, unpack(places))
    return
  end
  local early, late = {}, {}
  for _, place in ipairs(places) do
    local among = tonumber(place) <= feed.moved and early or late
    among[#among + 1] = place
  end
  if #early > 0 then
    redis.call('XDEL', keys.early, unpack(early))
  end
  if #late > 0 then
    redis.call('XDEL', keys.log, unpack(late))
  end
end

-- The commands after the first one of a removal, each once on nothing: if the right to one of them is missing, nothing
-- is removed. Returns whether there is work to forget.
local function try_removal(keys)
  redis.call('HDEL', keys.work, '')
  redis.call('ZREM', keys.expiry, '')
  return redis.call('EXISTS', keys.work) == 1
end

-- For calls that write before they remove.
local function try_whole_removal(keys)
  try_removal(keys)
  redis.call('XDEL', keys.log, '0-1')
end

local function remove_entries(keys, feed, entries)
  if #entries == 0 then
    return
  end
  local has_work = try_removal(keys)
  local places, moved, large = {}, {}, {}
  for at, entry in ipairs(entries) do
    places[at] = entry.place
    feed.bytes = feed.bytes - entry.bytes
    local id = exact(entry.id)
    if id ~= entry.place then
      moved[#moved + 1] = id
    end
    if entry.bytes > INLINE_BYTES then
      large[#large + 1] = id
      feed.large = math.max(0, feed.large - entry.bytes)
    end
  end
  delete_entries(keys, feed, places)
  -- About once for each thousand messages; see shared/feed/compact.
  feed.look = feed.look or tonumber(string.sub(places[1], -3)) < #places
  redis.call('ZREM', keys.expiry, unpack(places))
  if has_work then
    redis.call('ZREM', keys.claimed, unpack(places))
    redis.call('ZREM', keys.returned, unpack(places))
    redis.call('HDEL', keys.work, unpack(places))
  end
  if #moved > 0 then
    redis.call('HDEL', keys.parked, unpack(moved))
  end
  if #large > 0 then
    redis.call('HDEL', keys.bodies, unpack(large))
  end
end

local function has_expired(entry, now_ms)
  return entry.expires_at_ms ~= 0 and entry.expires_at_ms <= now_ms
end

-- Expiry without a pass over the messages. Most feeds give most messages the same TTL, and those expire in the order of
-- their positions: they form the lane (`lane_ms`), which needs no index. Everything up to `lane_swept` has been looked
-- at; `lane_last` is the newest member. Messages with another TTL, and those that a claim extended, are in the sorted
-- set `expiry`. shared/feed/reap removes expired ones.

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

-- The commands of retention, each once on nothing: nothing is added if nothing could be removed.
local function try_retention(keys)
  try_whole_removal(keys)
  redis.call('XLEN', keys.early)
  redis.call('XRANGE', keys.early, '-', '-', 'COUNT', '1')
  redis.call('ZRANGE', keys.guards, '0', '0')
end

-- Takes back claims of messages: no consumer got them, so these claims must not make them dead letters.
local function uncount(work, places)
  local known = {}
  for at, text in ipairs(redis.call('HMGET', work, unpack(places))) do
    if text then
      local record = parse_work(text)
      record.claims = math.max(0, record.claims - 1)
      known[#known + 1] = places[at]
      known[#known + 1] = format_work(record)
    end
  end
  if #known > 0 then
    redis.call('HSET', work, unpack(known))
  end
end

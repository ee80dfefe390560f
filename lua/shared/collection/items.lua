-- What differs between the kinds of items.
-- A list and a set have one part an item, a hash its field and its value, a sorted set its score and its value.

local function count_items(items, kind)
  if kind == 'list' then
    return redis.call('LLEN', items)
  elseif kind == 'set' then
    return redis.call('SCARD', items)
  elseif kind == 'hash' then
    return redis.call('HLEN', items)
  end
  return redis.call('ZCARD', items)
end

-- True while the collection is valid and complete.
local function is_live(known, items, now_ms)
  return known.expires_at_ms > now_ms and count_items(items, known.kind) == known.size
end

local MAX_PARTS = 2000

-- How many of the items are new; for a list, how many it has now.
local function fill(items, kind, parts, from)
  if from > #parts then
    return 0
  elseif kind == 'list' then
    return redis.call('RPUSH', items, unpack(parts, from))
  elseif kind == 'set' then
    return redis.call('SADD', items, unpack(parts, from))
  elseif kind == 'hash' then
    return redis.call('HSET', items, unpack(parts, from))
  end
  return redis.call('ZADD', items, unpack(parts, from))
end

local MOST_REMOVED = 2000

-- Removes surplus items: the oldest of a list, those of a sorted set with the smallest scores. Returns how many.
local function limit_items(items, kind, excess, limit)
  if limit == 0 or excess <= 0 then
    return 0
  end
  local leaving = math.min(excess, MOST_REMOVED)
  if kind == 'list' then
    redis.call('LTRIM', items, leaving, '-1')
    return leaving
  elseif kind == 'sortedSet' then
    return redis.call('ZREMRANGEBYRANK', items, '0', leaving - 1)
  end
  return 0
end

-- The most bytes of a page, estimated by the largest item.
local MAX_PAGE_BYTES = 4194304

local function page_size(known, limit)
  return math.max(1, math.min(limit, math.floor(MAX_PAGE_BYTES / math.max(1, known.largest))))
end

-- Parts of the items after a place, the place after them, and whether more follow. A list counts places from its first
-- item on, including removed ones; a sorted set by rank; a set and a hash are scanned.
local function read_items(items, known, place, limit)
  if known.kind == 'set' then
    local scan = redis.call('SSCAN', items, place, 'COUNT', limit)
    return scan[2], place_of(scan[1]), scan[1] ~= '0'
  elseif known.kind == 'hash' then
    local scan = redis.call('HSCAN', items, place, 'COUNT', limit)
    return scan[2], place_of(scan[1]), scan[1] ~= '0'
  elseif known.kind == 'list' then
    local from = math.min(math.max(tonumber(place) - known.first, 0), known.size)
    local parts = redis.call('LRANGE', items, exact(from), exact(from + limit - 1))
    local to = from + #parts
    return parts, exact(known.first + to), to < known.size
  end
  local from = math.min(tonumber(place), known.size)
  local parts = redis.call('ZRANGE', items, exact(from), exact(from + limit - 1), 'WITHSCORES')
  local to = from + #parts / 2
  return parts, exact(to), to < known.size
end

local MAX_REMOVED = 1000

-- How many of them existed.
local function take_out(items, kind, parts, from)
  if from > #parts then
    return 0
  elseif kind == 'set' then
    return redis.call('SREM', items, unpack(parts, from))
  elseif kind == 'hash' then
    return redis.call('HDEL', items, unpack(parts, from))
  end
  return redis.call('ZREM', items, unpack(parts, from))
end

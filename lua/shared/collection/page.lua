-- What a page may hold, as the largest item tells.
local MAX_PAGE_BYTES = 4194304

local function page_size(known, limit)
  return math.max(1, math.min(limit, math.floor(MAX_PAGE_BYTES / math.max(1, known.largest))))
end

-- Parts of the items behind a place, the place behind them, and whether more follow. A list counts places from its
-- first item on, also those that have left; a sorted set by rank; a set and a hash are scanned.
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

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

-- True while the collection counts, and is whole.
local function is_live(known, items, now_ms)
  return known.expires_at_ms > now_ms and count_items(items, known.kind) == known.size
end

local MOST_REMOVED = 2000

-- How many items have left: the oldest of a list, those of a sorted set with the smallest scores.
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

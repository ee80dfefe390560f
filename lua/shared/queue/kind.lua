-- The oldest dead jobs whose failure was of a kind, behind the first `skip` of them.
local function dead_of_kind(failed, kinds, kind, skip, limit)
  local number = string.match(redis.call('HGET', kinds, kind) or '', '^%d+')
  if not number then
    return {}
  end
  local first = redis.call('ZCOUNT', failed, '-inf', '(' .. number) + skip
  local last = redis.call('ZCOUNT', failed, '-inf', number) - 1
  if first > last then
    return {}
  end
  return redis.call('ZRANGE', failed, first, math.min(last, first + limit - 1))
end

-- The oldest dead jobs whose failure was of a kind.
local function dead_of_kind(failed, kinds, kind, limit)
  local number = string.match(redis.call('HGET', kinds, kind) or '', '^%d+')
  if not number then
    return {}
  end
  return redis.call('ZRANGEBYSCORE', failed, number, number, 'LIMIT', '0', limit)
end

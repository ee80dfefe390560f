-- Adds delayed messages, soonest first, from where the marker stopped among them, and no more behind those that use up the bytes
-- that are `left`. Answers the suffix of the marker for the next page, and whether there is more.
local function read_delayed(delayed, parked, bodies, start, limit, left, hide, now_ms, messages)
  local from = 0
  if start.id then
    local rank = redis.call('ZRANK', delayed, exact(start.id))
    from = rank and rank + 1 or redis.call('ZCOUNT', delayed, '-inf', exact(start.visible_at_us))
  end
  local suffix, count = start.suffix, redis.call('ZCARD', delayed)
  if limit == 0 then
    return suffix, count > from
  end
  local budget = { elements = limit, bytes = left }
  local found = redis.call('ZRANGE', delayed, from, from + limit - 1, 'WITHSCORES')
  for at = 1, #found, 2 do
    if not is_left(budget) then
      return suffix, true
    end
    local entry = parse_parked(tonumber(found[at]), redis.call('HGET', parked, found[at]))
    local own = hide.origin ~= '' and entry.origin == hide.origin
    if own or has_expired(entry, now_ms) then
      spend(budget, 1, read_of(entry))
    else
      spend(budget, 1, entry.bytes)
      tell_message(messages, entry, bodies)
    end
    suffix = string.format('-%.0f-%s', found[at + 1], found[at])
  end
  return suffix, count > from + limit
end

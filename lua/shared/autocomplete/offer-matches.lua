local function fields_of_best(best)
  sort_best(best)
  local fields = {}
  for at, ref in ipairs(best.refs) do
    fields[at] = field_of(ref)
  end
  return fields, best.cut
end

-- Offers the first entries that match a prefix, at least as many as are collected.
local function offer_matches(best, keys, prefix)
  local list = redis.call('HGET', keys.tops, prefix)
  if not list then
    local from, to = from_prefix(prefix), to_prefix(prefix)
    offer_members(best, redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', MOST_READ))
    return
  end
  local offered = math.min(best.most, top_size(list))
  for places = 0, offered - 1 do
    offer(best, place_at(list, byte_behind(places)))
  end
  best.cut = best.cut or offered < top_size(list) or not is_all(list)
end

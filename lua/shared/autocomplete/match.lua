-- The entries that match a prefix, as fields of `entries` in the order of their places: the first `most`, or
-- all. The second value is true where there are more, or may be.

-- Offers the first of those that match, at least as many as are collected.
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

local function fields_of_best(best)
  sort_best(best)
  local fields = {}
  for at, ref in ipairs(best.refs) do
    fields[at] = field_of(ref)
  end
  return fields, best.cut
end

local function match_exactly(keys, prefix, most)
  local list = redis.call('HGET', keys.tops, prefix)
  if not list then
    local best = new_best(most)
    local from, to = from_prefix(prefix), to_prefix(prefix)
    offer_members(best, redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', MOST_READ))
    return fields_of_best(best)
  end
  -- It is sorted already.
  local fields = {}
  local offered = math.min(most, top_size(list))
  for at = 1, offered do
    local byte = byte_behind(at) - 8
    fields[at] = string.sub(list, byte, byte + 7)
  end
  return fields, offered < top_size(list) or not is_all(list)
end

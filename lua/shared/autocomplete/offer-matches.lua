local function fields_of_best(best)
  sort_best(best)
  local fields = {}
  for at, ref in ipairs(best.refs) do
    fields[at] = field_of(ref)
  end
  return fields, best.cut
end

-- Offers the places of a top.
local function offer_top(best, tops, id)
  local head = redis.call('HGET', tops, id)
  local names = {}
  for at = 18, #head do
    names[at - 17] = id .. ':' .. string.sub(head, at, at)
  end
  for _, leaf in ipairs(redis.call('HMGET', tops, unpack(names))) do
    offer_places(best, leaf)
  end
  best.cut = best.cut or struct.unpack('>d', head) < math.huge
end

-- Offers the first entries that match a prefix, at least as many as are collected. Most of those that somebody may have meant
-- are of few words, or of none.
local function offer_matches(best, keys, prefix)
  local from, to = from_prefix(prefix), to_prefix(prefix)
  local members = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', MOST_COLD + 1)
  if #members > MOST_COLD then
    local fork, id = first_fork(keys.forks, prefix)
    if fork then
      return offer_top(best, keys.tops, id)
    end
    members = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', MOST_READ)
  end
  offer_members(best, members)
end

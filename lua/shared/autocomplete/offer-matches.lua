local function fields_of_best(best)
  sort_best(best)
  local fields = {}
  for at, ref in ipairs(best.refs) do
    fields[at] = field_of(ref)
  end
  return fields, best.cut
end

-- So many words are looked at of prefixes that begin no fork: what has more of them would keep all others waiting.
local MOST_LOOKED = 4000
-- So many tops are read at once.
local MOST_TOPS = 100

-- Offers the first entries that match a prefix where few words do; else it notes the top that has them in `hot`. Most of those
-- that somebody may have meant are of no words.
local function offer_matches(best, keys, prefix, hot)
  local from, to = from_prefix(prefix), to_prefix(prefix)
  if not redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', '1')[1] then
    return
  end
  local fork, id = first_fork(keys.forks, prefix)
  if not fork and best.looked < MOST_LOOKED then
    offer_members(best, redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', MOST_READ))
  elseif fork and not hot.known[id] then
    hot.known[id] = true
    hot.ids[#hot.ids + 1] = id
  end
end

-- Heads and first leaves of the tops from this one on.
local function read_firsts(lists, tops, ids, from)
  local names = {}
  for at = from, math.min(from + MOST_TOPS - 1, #ids) do
    names[#names + 1] = ids[at]
    names[#names + 1] = ids[at] .. ':A'
  end
  local stored = redis.call('HMGET', tops, unpack(names))
  for at = 1, #stored, 2 do
    local rank, ref = place_at(stored[at + 1], 1)
    lists[#lists + 1] = { id = names[at], head = stored[at], first = stored[at + 1], rank = rank, ref = ref }
  end
end

-- Offers the places of a top, as long as they are among the first.
local function offer_top(best, tops, list)
  local names = {}
  for at = 19, #list.head do
    names[at - 18] = list.id .. ':' .. string.sub(list.head, at, at)
  end
  if not offer_places(best, list.first) then
    return
  end
  local leaves = names[1] and redis.call('HMGET', tops, unpack(names)) or names
  for _, leaf in ipairs(leaves) do
    if not offer_places(best, leaf) then
      return
    end
  end
  best.cut = best.cut or struct.unpack('>d', list.head) < math.huge
end

-- Offers the places of these tops.
local function offer_tops(best, tops, ids)
  local lists = {}
  for from = 1, #ids, MOST_TOPS do
    read_firsts(lists, tops, ids, from)
  end
  sort_lists(lists)
  for _, list in ipairs(lists) do
    if not is_before(list.rank, list.ref, best.rank, best.ref) then
      best.cut = true
      return
    end
    offer_top(best, tops, list)
  end
end

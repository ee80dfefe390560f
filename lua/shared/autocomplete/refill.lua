-- A top that has lost too many of its places gets those that follow, from the forks behind one of its own, which are right
-- already; where there are none, from the words.
-- So many it has then, at most.
local MOST_COLLECTED = 160

-- Offers the words of one longer prefix that begins no fork, and returns the place from which on there may be more.
local function offer_words(keys, best, child)
  local from, to = from_prefix(child), to_prefix(child)
  -- The same text again and again: these are in the order of their places.
  local is_text = string.byte(child, -1) == 0
  local most = is_text and MOST_COLLECTED or MOST_READ
  local members = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', most)
  offer_members(best, members)
  if is_text and #members == most then
    local last = members[most]
    return place_at(last, #last - PLACE_BYTES + 1)
  end
  return math.huge, math.huge
end

-- Offers the places of tops that are open, of each as long as they are among the first.
local function offer_open_tops(fields, best, tops)
  local firsts, lists = {}, {}
  for at, top in ipairs(tops) do
    firsts[at] = leaf_of(top, 'A')
  end
  read_leaves(fields, tops, firsts)
  for at, top in ipairs(tops) do
    local rank, ref = place_at(firsts[at].places, 1)
    lists[at] = { top = top, rank = rank, ref = ref }
  end
  sort_lists(lists)
  for _, list in ipairs(lists) do
    if not is_before(list.rank, list.ref, best.rank, best.ref) then
      best.cut = true
      return
    end
    local leaves = leaves_of(list.top)
    read_leaves(fields, { list.top }, leaves)
    for _, leaf in ipairs(leaves) do
      if not offer_places(best, leaf.places) then
        break
      end
    end
  end
end

-- All that a prefix has to offer, and the place from which on it may be more.
local function offer_children(keys, known, prefix)
  local best, limit, tops = new_best(MOST_COLLECTED), { rank = math.huge, ref = math.huge }, {}
  local from, to = from_prefix(prefix), to_prefix(prefix)
  local found = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', '1')
  while found[1] do
    local child = string.sub(found[1], 1, #prefix + 1)
    local fork = string.byte(child, -1) > 0 and fork_behind(keys, known, child)
    local rank, ref
    if fork then
      local top = get_top(keys.tops, known, fork.id)
      tops[#tops + 1] = top
      rank, ref = top.rank, top.ref
    else
      rank, ref = offer_words(keys, best, child)
    end
    if is_before(rank, ref, limit.rank, limit.ref) then
      limit.rank, limit.ref = rank, ref
    end
    known.work = known.work + WORK_OF_CHILD
    from = '[' .. prefix .. string.char(string.byte(child, -1) + 1)
    found = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', '1')
  end
  offer_open_tops(keys.tops, best, tops)
  known.work = known.work + best.looked
  sort_best(best)
  if best.cut and is_before(best.rank, best.ref, limit.rank, limit.ref) then
    limit.rank, limit.ref = best.rank, best.ref
  end
  return best, limit
end

local function longest_prefix(top)
  local longest = ''
  for prefix in pairs(prefixes_of(top)) do
    if #prefix > #longest then
      longest = prefix
    end
  end
  return longest
end

-- The places before its limit stay as they are.
local function refill(keys, known, top, prefix)
  local best, limit = offer_children(keys, known, prefix)
  local places = {}
  for _, ref in ipairs(best.refs) do
    local rank = best.ranks[ref]
    if not is_before(rank, ref, top.rank, top.ref) and is_before(rank, ref, limit.rank, limit.ref) then
      places[#places + 1] = pack_place(rank, ref)
    end
  end
  local leaves = leaves_of(top)
  local last = leaves[#leaves].places
  drop_leaf(top, #leaves)
  append_leaves(top, last .. table.concat(places))
  top.rank, top.ref = limit.rank, limit.ref
end

-- The longest first: what stands behind a fork of theirs is right then.
local function refill_all(keys, known, short)
  for _, one in ipairs(short) do
    one.prefix = longest_prefix(one.top)
  end
  table.sort(short, function(one, other)
    return #one.prefix > #other.prefix
  end)
  for _, one in ipairs(short) do
    if not one.top.is_gone then
      refill(keys, known, one.top, one.prefix)
    end
  end
end

-- A top that has lost too many of its places gets those that follow, from the forks behind one of its own, which are right
-- already; where there are none, from the words.
-- So many it has then, at most.
local MOST_COLLECTED = 160

-- Offers the places of one longer prefix, and returns the place from which on there may be more.
local function offer_child(keys, known, best, child)
  if string.byte(child, -1) == 0 then
    -- The same text again and again: these are in the order of their places.
    local from, to = from_prefix(child), to_prefix(child)
    local members = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', MOST_COLLECTED)
    offer_members(best, members)
    known.work = known.work + #members
    if #members == MOST_COLLECTED then
      local last = members[MOST_COLLECTED]
      return place_at(last, #last - PLACE_BYTES + 1)
    end
    return math.huge, math.huge
  end
  local fork = fork_behind(keys, known, child)
  if not fork then
    local from, to = from_prefix(child), to_prefix(child)
    local members = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', MOST_READ)
    offer_members(best, members)
    known.work = known.work + #members
    return math.huge, math.huge
  end
  local top = get_top(keys.tops, known, fork.id)
  read_leaves(keys.tops, { top }, leaves_of(top))
  for _, leaf in ipairs(top.leaves) do
    offer_places(best, leaf.places)
  end
  return top.rank, top.ref
end

-- All that a prefix has to offer, and the place from which on it may be more.
local function offer_children(keys, known, prefix)
  local best, limit = new_best(MOST_COLLECTED), { rank = math.huge, ref = math.huge }
  local from, to = from_prefix(prefix), to_prefix(prefix)
  local found = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', '1')
  while found[1] do
    local child = string.sub(found[1], 1, #prefix + 1)
    local rank, ref = offer_child(keys, known, best, child)
    if is_before(rank, ref, limit.rank, limit.ref) then
      limit.rank, limit.ref = rank, ref
    end
    from = '[' .. prefix .. string.char(string.byte(child, -1) + 1)
    found = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', '1')
  end
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

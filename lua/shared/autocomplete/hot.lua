-- Hot prefixes: those of many words. Where their words diverge is a fork, which has a top (shared/autocomplete/top): a
-- prefix and the first fork that extends it match the same words. Invariants after every call:
--   1. each prefix that more than MOST_COLD words and LEAST_NEW entries begin with begins a fork;
--   2. the same words begin with a prefix and with the first fork that it begins, if there is one;
--   3. a top holds exactly the places before its limit of all that match: all of them, and more than LEAST_HOT, or
--      LEAST_TOP at least.
-- For a prefix without a fork all words can be read: an entry has at most 8.
-- A prefix becomes hot only with more entries than this, so that not every removal ends it again.
local LEAST_NEW = 24

-- Returns the forks on the path of a suffix, the shortest first; the length of the shortest prefix that none of them
-- extends; and the fork that extends it, from which the suffix diverges.
local function walk_forks(keys, known, suffix)
  local passed, length = {}, 0
  while length <= #suffix do
    local fork = fork_behind(keys, known, string.sub(suffix, 1, length))
    if not fork then
      return passed, length, nil
    end
    if string.sub(suffix, 1, #fork.prefix) ~= fork.prefix then
      return passed, length, fork
    end
    passed[#passed + 1] = fork
    length = #fork.prefix + 1
  end
  return passed, length, nil
end

-- The common beginning of two texts, up to the end of text.
local function common_start(one, other)
  local length = 0
  repeat
    length = length + 1
    local byte = string.byte(other, length)
  until byte ~= string.byte(one, length) or not byte or byte == 0
  return string.sub(one, 1, length - 1)
end

-- The places of all entries that match a few words, sorted.
local function pack_places(members)
  local best = new_best(#members)
  offer_members(best, members)
  sort_best(best)
  local places = {}
  for at, ref in ipairs(best.refs) do
    places[at] = pack_place(best.ranks[ref], ref)
  end
  return table.concat(places), #places
end

-- The top for the entries of this one and an added entry. `born`: tops created for it, by the tops they were created
-- from.
local function top_with(keys, known, born, top, one)
  local with = born[top.id]
  if not with then
    with = copy_top(keys.tops, known, top)
    local leaf, at = find_leaf(with, one.rank, one.ref)
    if leaf then
      put_place(known, with, leaf, at, one)
    end
    born[top.id], born[with.id] = with, with
  end
  return with
end

-- Makes the prefix a fork where a suffix diverges from the words of another one.
local function make_fork(keys, known, born, suffix, other, one)
  local top = get_top(keys.tops, known, other.id)
  local with = top_with(keys, known, born, top, one)
  local prefix = common_start(other.prefix, suffix)
  put_fork(keys, known, with, prefix, prefixes_of(top)[other.prefix])
  set_least(known, top, other.prefix, #prefix + 1)
end

-- Makes prefixes of a suffix hot, from this length on, if there are too many words.
local function make_hot(keys, known, born, suffix, length)
  while length <= #suffix do
    local prefix = string.sub(suffix, 1, length)
    local from, to = from_prefix(prefix), to_prefix(prefix)
    if redis.call('ZLEXCOUNT', keys.words, from, to) <= MOST_COLD then
      return
    end
    local members = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', MOST_READ)
    local places, size = pack_places(members)
    if size <= LEAST_NEW then
      return
    end
    local top = born[places]
    if not top then
      top = make_top(known)
      append_leaves(top, places)
      born[places], born[top.id] = top, top
    end
    local fork = common_start(members[1], members[#members])
    if length == 0 then
      keep_sorted(keys.forks)
    end
    put_fork(keys, known, top, fork, length)
    length = #fork + 1
  end
end

-- The forks on the way of suffixes, by their tops: `ids` has their numbers.
local function note_passed(passed_of, passed)
  for _, fork in ipairs(passed) do
    local prefixes = passed_of[fork.id]
    if not prefixes then
      prefixes = {}
      passed_of[fork.id] = prefixes
      passed_of.ids[#passed_of.ids + 1] = fork.id
    end
    prefixes[fork.prefix] = true
  end
end

local function is_all_of(top, prefixes)
  for prefix in pairs(prefixes_of(top)) do
    if not prefixes[prefix] then
      return false
    end
  end
  return true
end

-- Adds an entry to the tops whose forks all match it. If only some of them match, these get a top of their own.
local function enter_tops(keys, known, born, passed_of, one)
  local entered = {}
  read_tops(keys.tops, known, passed_of.ids)
  for _, id in ipairs(passed_of.ids) do
    local top, prefixes = known.open[id], passed_of[id]
    if born[id] ~= top and is_all_of(top, prefixes) then
      entered[#entered + 1] = top
    elseif born[id] ~= top then
      local with = top_with(keys, known, born, top, one)
      for prefix in pairs(prefixes) do
        put_fork(keys, known, with, prefix, take_fork(keys, known, top, prefix))
      end
    end
  end
  for _, found in ipairs(find_leaves(keys.tops, entered, one)) do
    put_place(known, found.top, found.leaf, found.at, one)
  end
end

-- Notes that an entry was added, whose words are stored. `one`: its rank, ref and place.
local function enter_hot(keys, known, suffixes, one)
  local born, passed_of = {}, { ids = {} }
  for _, suffix in ipairs(suffixes) do
    local passed, length, other = walk_forks(keys, known, suffix)
    note_passed(passed_of, passed)
    if other then
      make_fork(keys, known, born, suffix, other, one)
    else
      make_hot(keys, known, born, suffix, length)
    end
  end
  enter_tops(keys, known, born, passed_of, one)
end

-- A top that has lost too many of its places gets the following ones, from the forks that extend one of its own, which
-- are correct already; without such forks, from the words.
-- The most it has afterwards.
local MOST_COLLECTED = 160

-- Offers the words of one longer prefix without a fork, and returns the place from which on there may be more.
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

-- Offers the places of open tops, of each as long as they are among the first.
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

-- Offers everything that a prefix has, and returns the place from which on there may be more.
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

-- The longest first: then the forks that extend theirs are correct.
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

-- Hot prefixes: those that many words begin with. Where their words part is a fork, which has a top (shared/autocomplete/
-- top): the same words begin with a prefix and with the first fork behind it. What holds after every call:
--   1. each prefix that more than MOST_COLD words and LEAST_NEW entries begin with begins a fork;
--   2. the same words begin with a prefix and with the first fork that it begins, if there is one;
--   3. a top holds exactly the places before its limit of all that match: all of them, and more than LEAST_HOT, or
--      LEAST_TOP at least.
-- Of a prefix that begins no fork all words can be read: an entry has at most 8.
-- A prefix is made hot with more entries than this only, so that not every removal ends it again.
local LEAST_NEW = 24

-- The forks on the way of a suffix, the shortest first; how long the prefix is that none of them begins with; and the
-- fork that it begins, which the suffix parts from.
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

-- What two texts begin with alike, up to the end of text.
local function common_start(one, other)
  local length = 0
  repeat
    length = length + 1
    local byte = string.byte(other, length)
  until byte ~= string.byte(one, length) or not byte or byte == 0
  return string.sub(one, 1, length - 1)
end

-- All that match a few words, in their order.
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

-- The top of those in this one and of an entry that has come. `born`: those that were made for it, by what they were made of.
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

-- Makes the prefix a fork where a suffix parts from the words of another one.
local function make_fork(keys, known, born, suffix, other, one)
  local top = get_top(keys.tops, known, other.id)
  local with = top_with(keys, known, born, top, one)
  local prefix = common_start(other.prefix, suffix)
  put_fork(keys, known, with, prefix, prefixes_of(top)[other.prefix])
  set_least(known, top, other.prefix, #prefix + 1)
end

-- Makes prefixes of a suffix hot, from this length on, where there are too many words.
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

-- Puts an entry into tops of which all forks match it; where only some do, these get a top of their own.
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

-- Notes that an entry has come, whose words are stored. `one`: its rank, ref and place.
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

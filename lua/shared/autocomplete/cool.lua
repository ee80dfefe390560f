-- What the words of an entry leave behind that goes.

-- Whether words begin with this prefix.
local function begins_words(words, prefix)
  local found = redis.call('ZRANGEBYLEX', words, from_prefix(prefix), to_prefix(prefix), 'LIMIT', '0', '1')
  return found[1] ~= nil
end

-- Where words part no more at a fork, it moves to where they do, or makes way for the fork that is there.
local function mend_fork(keys, known, suffix, fork)
  local top, prefix = get_top(keys.tops, known, fork.id), fork.prefix
  local way = #prefix < #suffix and string.sub(suffix, 1, #prefix + 1) or prefix .. '\0'
  if not prefixes_of(top)[prefix] or begins_words(keys.words, way) then
    return
  end
  local from, to = from_prefix(prefix), to_prefix(prefix)
  local first = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', '1')[1]
  local last = redis.call('ZREVRANGEBYLEX', keys.words, to, from, 'LIMIT', '0', '1')[1]
  local longer = common_start(first, last)
  if longer == prefix then
    return
  end
  local behind = fork_behind(keys, known, string.sub(longer, 1, #prefix + 1))
  if behind then
    set_least(known, get_top(keys.tops, known, behind.id), behind.prefix, prefixes_of(top)[prefix])
  else
    put_fork(keys, known, top, longer, prefixes_of(top)[prefix])
  end
  take_fork(keys, known, top, prefix)
end

-- Takes an entry out of a top. True when that is too short then. No leaf is counted where there are enough of them.
local function leave_top(keys, known, found, one)
  local top = found.top
  if not take_place(keys, known, top, found.leaf, found.at, one) then
    return false
  end
  local is_whole = top.rank == math.huge
  local least = is_whole and LEAST_HOT or LEAST_TOP - 1
  local count = top.leaves and #top.leaves or #top.letters
  if count * LEAST_LEAF > least then
    return false
  end
  local leaves = leaves_of(top)
  read_leaves(keys.tops, { top }, leaves)
  local is_short = count_places(leaves) <= least
  if is_short and is_whole then
    give_up_top(keys, known, top)
  end
  return is_short and not is_whole
end

-- Notes that an entry has gone, whose words are gone already. `one`: its rank, ref and place.
local function leave_hot(keys, known, suffixes, one)
  local passed_of, last = { ids = {} }, {}
  for at, suffix in ipairs(suffixes) do
    local passed = walk_forks(keys, known, suffix)
    note_passed(passed_of, passed)
    last[at] = passed[#passed] or false
  end
  local left, short = {}, {}
  read_tops(keys.tops, known, passed_of.ids)
  for at, id in ipairs(passed_of.ids) do
    left[at] = known.open[id]
  end
  for _, found in ipairs(find_leaves(keys.tops, left, one)) do
    if leave_top(keys, known, found, one) then
      short[#short + 1] = { top = found.top }
    end
  end
  for at, suffix in ipairs(suffixes) do
    if last[at] then
      mend_fork(keys, known, suffix, last[at])
    end
  end
  refill_all(keys, known, short)
end

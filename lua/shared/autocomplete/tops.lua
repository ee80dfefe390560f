-- The tops that a call has used, each read once and written once, at its end: `open` by their numbers, `forks` the
-- first fork that extends a prefix, `last` the newest number, `work` the work of the call so far
-- (shared/autocomplete/index).
local function open_tops(last)
  return { open = {}, forks = {}, last = last, work = 0 }
end

-- Opens the tops with these numbers.
local function read_tops(tops, known, ids)
  local missing, fields = {}, {}
  for _, id in ipairs(ids) do
    if not known.open[id] then
      missing[#missing + 1] = id
      fields[#fields + 1] = id
      fields[#fields + 1] = id .. ':'
    end
  end
  if missing[1] then
    local found = redis.call('HMGET', tops, unpack(fields))
    for at, id in ipairs(missing) do
      known.open[id] = parse_top(id, found[at * 2 - 1], found[at * 2])
    end
  end
end

local function get_top(tops, known, id)
  read_tops(tops, known, { id })
  return known.open[id]
end

-- Of these tops those that contain a place, or would contain it: the top, the leaf, and its index.
local function find_leaves(tops, list, one)
  local found, of_tops, leaves = {}, {}, {}
  for _, top in ipairs(list) do
    local leaf, at = find_leaf(top, one.rank, one.ref)
    if leaf then
      found[#found + 1] = { top = top, leaf = leaf, at = at }
      of_tops[#found], leaves[#found] = top, leaf
    end
  end
  read_leaves(tops, of_tops, leaves)
  return found
end

-- A new top without places and without forks.
local function make_top(known)
  known.last = known.last + 1
  local id = exact(known.last)
  local top = { id = id, rank = math.huge, ref = math.huge, has_front = 0, read = {}, dropped = {} }
  top.leaves, top.prefixes = {}, {}
  known.open[id] = top
  return top
end

-- Another top with the same places.
local function copy_top(tops, known, top)
  local leaves = leaves_of(top)
  read_leaves(tops, { top }, leaves)
  local copy = make_top(known)
  copy.rank, copy.ref = top.rank, top.ref
  for at, leaf in ipairs(leaves) do
    put_leaf(copy, at, leaf.places)
    copy.leaves[at].rank, copy.leaves[at].ref = leaf.rank, leaf.ref
  end
  return copy
end

-- The first fork that extends this prefix: prefix and number of its top; or false.
local function fork_behind(keys, known, prefix)
  local fork = known.forks[prefix]
  if fork == nil then
    local found, id = first_fork(keys.forks, prefix)
    fork = found and { prefix = found, id = id } or false
    known.forks[prefix] = fork
  end
  return fork
end

-- Prefixes of a fork with `least` bytes and more are answered by its top.
local function set_least(known, top, prefix, least)
  prefixes_of(top)[prefix] = least
  top.has_new_head = true
  change_front(known, top)
end

-- Gives a top a fork.
local function put_fork(keys, known, top, prefix, least)
  redis.call('ZADD', keys.forks, '0', prefix .. '\0' .. top.id)
  set_least(known, top, prefix, least)
  known.forks = {}
end

-- Removes a fork from its top, which is deleted with the last one. Returns its least length.
local function take_fork(keys, known, top, prefix)
  redis.call('ZREM', keys.forks, prefix .. '\0' .. top.id)
  local least = prefixes_of(top)[prefix]
  set_least(known, top, prefix, nil)
  top.is_gone = not next(top.prefixes)
  known.forks = {}
  return least
end

-- A server stores few short members as one text, and scans it from the beginning. One longer member prevents that while
-- there are forks. No query finds it: UTF-8 has no byte 255.
local LONG_BYTES = 65

local function keep_sorted(forks)
  redis.call('ZADD', forks, '0', string.rep('\255', LONG_BYTES))
end

local function forget_sorted(forks)
  redis.call('ZREM', forks, string.rep('\255', LONG_BYTES))
end

-- If one of its forks is a prefix of all words, these are the last.
local function give_up_top(keys, known, top)
  for prefix in pairs(prefixes_of(top)) do
    if take_fork(keys, known, top, prefix) == 0 then
      forget_sorted(keys.forks)
    end
  end
end

-- Collects the deletions and the writes of one top.
local function collect_writes(top, deleted, written)
  for _, letter in ipairs(top.dropped) do
    deleted[#deleted + 1] = leaf_field(top, letter)
  end
  if top.is_gone then
    deleted[#deleted + 1] = top.id
    deleted[#deleted + 1] = leaf_field(top, '')
    for _, leaf in ipairs(leaves_of(top)) do
      deleted[#deleted + 1] = leaf_field(top, leaf.letter)
    end
    return
  end
  if top.has_new_head then
    local head, rest = pack_top(top)
    written[#written + 1] = top.id
    written[#written + 1] = head
    written[#written + 1] = leaf_field(top, '')
    written[#written + 1] = rest
  end
  for letter, leaf in pairs(top.read) do
    if leaf.is_new then
      written[#written + 1] = leaf_field(top, letter)
      written[#written + 1] = leaf.places
    end
  end
end

-- Arguments per command.
local MOST_ARGUMENTS = 1000

-- A deleted field may be written again: letters of leaves are reused.
local function write_tops(tops, known)
  local deleted, written = {}, {}
  for _, top in pairs(known.open) do
    collect_writes(top, deleted, written)
  end
  for from = 1, #deleted, MOST_ARGUMENTS do
    redis.call('HDEL', tops, unpack(deleted, from, math.min(from + MOST_ARGUMENTS - 1, #deleted)))
  end
  for from = 1, #written, MOST_ARGUMENTS do
    redis.call('HSET', tops, unpack(written, from, math.min(from + MOST_ARGUMENTS - 1, #written)))
  end
end

-- Cleanup after the words of an entry are removed.

-- Whether words start with this prefix.
local function begins_words(words, prefix)
  local found = redis.call('ZRANGEBYLEX', words, from_prefix(prefix), to_prefix(prefix), 'LIMIT', '0', '1')
  return found[1] ~= nil
end

-- If words no longer diverge at a fork, it moves to where they do, or is removed if a fork is there already.
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

-- Removes an entry from a top. True if the top is too short then. Leaves are not counted if there are enough of them.
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

-- Notes that an entry was removed, whose words are removed already. `one`: its rank, ref and place.
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

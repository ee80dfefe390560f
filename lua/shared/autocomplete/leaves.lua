-- A top: the places of all entries that match a prefix, up to its `limit`. It belongs to every fork that the same
-- entries match: titles that share their first eight words have eight such forks and one top. In `tops`:
--   <number>           the head: the limit, whether there is a front, and the letters of its leaves
--   <number>:          the rest of it: of each leaf a lower bound of its places; then of each fork the length
--                      of the shortest prefix that the same words begin with, its own length, and itself
--   <number>:<letter>  a leaf: places in their order
-- So adding or removing an entry changes one leaf of each top. The first leaf has the letter A, and the data for a
-- front. A query does not read the rest, and parses only what it needs: `leaves` and `prefixes` are parsed when they
-- are about to change.
local MOST_LEAF = 18
-- None has fewer, except the only one.
local LEAST_LEAF = 8
-- Places in a new leaf.
local NEW_LEAF = 11
local MOST_LEAVES = 16
-- Below this, a top with a limit is filled up again, so that as many can be suggested.
local LEAST_TOP = 100
-- A top without a limit is deleted at this size.
local LEAST_HOT = 16
-- Entries in a front (shared/autocomplete/fronts).
local FRONT_PLACES = 10
local TOP_HEAD_BYTES = 17

local function parse_top(id, head, rest)
  local top = { id = id, rest = rest, read = {}, dropped = {} }
  top.rank, top.ref, top.has_front = struct.unpack('>ddB', head)
  top.letters = string.sub(head, TOP_HEAD_BYTES + 1)
  return top
end

local function leaf_field(top, letter)
  return top.id .. ':' .. letter
end

-- The leaf with this letter, perhaps without its places.
local function leaf_of(top, letter)
  local leaf = top.read[letter]
  if not leaf then
    leaf = { letter = letter }
    top.read[letter] = leaf
  end
  return leaf
end

local function leaves_of(top)
  if not top.leaves then
    top.leaves = {}
    for at = 1, #top.letters do
      local leaf = leaf_of(top, string.sub(top.letters, at, at))
      leaf.rank, leaf.ref = place_at(top.rest, (at - 1) * PLACE_BYTES + 1)
      top.leaves[at] = leaf
    end
  end
  return top.leaves
end

local function prefixes_of(top)
  if not top.prefixes then
    top.prefixes = {}
    local at = #top.letters * PLACE_BYTES + 1
    while at <= #top.rest do
      local least, bytes = string.byte(top.rest, at, at + 1)
      top.prefixes[string.sub(top.rest, at + 2, at + 1 + bytes)] = least
      at = at + 2 + bytes
    end
  end
  return top.prefixes
end

-- Head and rest.
local function pack_top(top)
  local head, rest = { struct.pack('>ddB', top.rank, top.ref, top.has_front) }, {}
  for at, leaf in ipairs(leaves_of(top)) do
    head[at + 1] = leaf.letter
    rest[at] = pack_place(leaf.rank, leaf.ref)
  end
  for prefix, least in pairs(prefixes_of(top)) do
    rest[#rest + 1] = string.char(least, #prefix) .. prefix
  end
  return table.concat(head), table.concat(rest)
end

-- Reads leaves: of these tops the ones at the same positions.
local function read_leaves(tops, of_tops, leaves)
  local fields, missing = {}, {}
  for at, leaf in ipairs(leaves) do
    if not leaf.places then
      fields[#fields + 1] = leaf_field(of_tops[at] or of_tops[1], leaf.letter)
      missing[#missing + 1] = leaf
    end
  end
  if fields[1] then
    local stored = redis.call('HMGET', tops, unpack(fields))
    for at, leaf in ipairs(missing) do
      leaf.places = stored[at]
    end
  end
end

-- Counts places in leaves that are read.
local function count_places(leaves)
  local bytes = 0
  for _, leaf in ipairs(leaves) do
    bytes = bytes + #leaf.places
  end
  return bytes / PLACE_BYTES
end

local function set_places(leaf, places)
  leaf.places, leaf.is_new = places, true
end

-- Inserts a leaf of these places into a top. They must follow the places of the leaves before it.
local function put_leaf(top, at, places)
  local leaves, taken, letter = leaves_of(top), {}, 65
  for _, leaf in ipairs(leaves) do
    taken[leaf.letter] = true
  end
  while taken[string.char(letter)] do
    letter = letter + 1
  end
  local leaf = leaf_of(top, string.char(letter))
  set_places(leaf, places)
  leaf.rank, leaf.ref = 0, 0
  if at > 1 then
    leaf.rank, leaf.ref = place_at(places, 1)
  end
  table.insert(leaves, at, leaf)
  top.has_new_head = true
end

local function drop_leaf(top, at)
  local leaf = table.remove(leaves_of(top), at)
  top.read[leaf.letter] = nil
  top.dropped[#top.dropped + 1] = leaf.letter
  top.has_new_head = true
end

-- Appends leaves of these places.
local function append_leaves(top, places)
  local from, size = 1, NEW_LEAF * PLACE_BYTES
  while from <= #places do
    local to = from + size - 1
    if #places - to < LEAST_LEAF * PLACE_BYTES then
      to = #places
    end
    put_leaf(top, #leaves_of(top) + 1, string.sub(places, from, to))
    from = to + 1
  end
end

-- How many of these places are before this one.
local function places_before(places, rank, ref)
  local low, high = 0, #places / PLACE_BYTES
  while low < high do
    local middle = math.floor((low + high) / 2)
    local other_rank, other_ref = place_at(places, 1 + middle * PLACE_BYTES)
    if is_before(other_rank, other_ref, rank, ref) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- The leaf of a place, its index, and the number of leaves. Nil beyond the limit.
local function find_leaf(top, rank, ref)
  if not is_before(rank, ref, top.rank, top.ref) then
    return nil
  end
  local leaves = top.leaves
  local at = leaves and #leaves or #top.letters
  while at > 1 do
    local other_rank, other_ref
    if leaves then
      other_rank, other_ref = leaves[at].rank, leaves[at].ref
    else
      other_rank, other_ref = place_at(top.rest, (at - 1) * PLACE_BYTES + 1)
    end
    if not is_before(rank, ref, other_rank, other_ref) then
      break
    end
    at = at - 1
  end
  return leaves and leaves[at] or leaf_of(top, string.sub(top.letters, at, at)), at
end

-- How many places of a leaf are before this one, and whether it is there.
local function find_place(leaf, one)
  local before = places_before(leaf.places, one.rank, one.ref)
  local byte = before * PLACE_BYTES
  return before, string.sub(leaf.places, byte + 1, byte + PLACE_BYTES) == one.place
end

-- Notes that the front of a top must be rewritten.
local function change_front(known, top)
  if not top.has_new_front then
    top.has_new_front = true
    known.work = known.work + WORK_OF_FRONT
  end
end

-- Splits the places of one or two leaves into two: `cut` bytes for the first.
local function split_leaf(top, at, places)
  local cut = math.ceil(#places / PLACE_BYTES / 2) * PLACE_BYTES
  set_places(leaves_of(top)[at], string.sub(places, 1, cut))
  put_leaf(top, at + 1, string.sub(places, cut + 1))
end

local function put_place(known, top, leaf, at, one)
  local before, is_there = find_place(leaf, one)
  if is_there then
    return
  end
  local cut = before * PLACE_BYTES
  set_places(leaf, string.sub(leaf.places, 1, cut) .. one.place .. string.sub(leaf.places, cut + 1))
  if at == 1 and before < FRONT_PLACES then
    change_front(known, top)
  end
  if #leaf.places <= MOST_LEAF * PLACE_BYTES then
    return
  end
  split_leaf(top, at, leaf.places)
  local count = #top.leaves
  if count > MOST_LEAVES then
    top.rank, top.ref = top.leaves[count].rank, top.leaves[count].ref
    drop_leaf(top, count)
  end
end

-- Merges two adjacent leaves into one, or into two of equal length.
local function level_leaves(tops, top, at)
  local leaves = leaves_of(top)
  local first = math.min(at, #leaves - 1)
  if first == 0 then
    return
  end
  read_leaves(tops, { top }, { leaves[first], leaves[first + 1] })
  local both = leaves[first].places .. leaves[first + 1].places
  drop_leaf(top, first + 1)
  if #both <= MOST_LEAF * PLACE_BYTES then
    set_places(leaves[first], both)
  else
    split_leaf(top, first, both)
  end
end

-- True if it was there.
local function take_place(keys, known, top, leaf, at, one)
  local before, is_there = find_place(leaf, one)
  if not is_there then
    return false
  end
  local cut = before * PLACE_BYTES
  set_places(leaf, string.sub(leaf.places, 1, cut) .. string.sub(leaf.places, cut + PLACE_BYTES + 1))
  if at == 1 and before < FRONT_PLACES then
    change_front(known, top)
  end
  if #leaf.places < (at == 1 and FRONT_PLACES or LEAST_LEAF) * PLACE_BYTES then
    level_leaves(keys.tops, top, at)
  end
  return true
end

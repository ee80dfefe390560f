-- Collects places in any order and keeps the first of them, each entry once.
-- Numbers are compared, not packed places: the order of strings depends on the server's locale.
-- `looked`: how many places were offered.
local function new_best(most)
  return {
    most = most,
    ranks = {},
    refs = {},
    size = 0,
    rank = math.huge,
    ref = math.huge,
    cut = false,
    looked = 0,
  }
end

local function is_before(rank, ref, other_rank, other_ref)
  return rank < other_rank or (rank == other_rank and ref < other_ref)
end

local function sort_best(best)
  local ranks, refs = best.ranks, best.refs
  table.sort(refs, function(one, other)
    return is_before(ranks[one], one, ranks[other], other)
  end)
  for at = best.size, best.most + 1, -1 do
    ranks[refs[at]] = nil
    refs[at] = nil
    best.cut = true
  end
  best.size = #refs
  if best.size == best.most then
    best.ref = refs[best.size]
    best.rank = ranks[best.ref]
  end
end

-- False if it is none of the first, so that no later place is either.
local function offer(best, rank, ref)
  best.looked = best.looked + 1
  if best.ranks[ref] then
    return true
  end
  if not is_before(rank, ref, best.rank, best.ref) then
    best.cut = true
    return false
  end
  best.size = best.size + 1
  best.ranks[ref] = rank
  best.refs[best.size] = ref
  if best.size >= 2 * best.most then
    sort_best(best)
  end
  return true
end

-- Offers the entries of members of `words`.
local function offer_members(best, members)
  for _, member in ipairs(members) do
    offer(best, place_at(member, #member - PLACE_BYTES + 1))
  end
end

-- Offers packed places in their order, as long as they are among the first. True if all are.
local function offer_places(best, places)
  for byte = 1, #places, PLACE_BYTES do
    if not offer(best, place_at(places, byte)) then
      return false
    end
  end
  return true
end

-- Sorts lists of places by their first place, given by their `rank` and `ref`. Lists are offered in that order: after
-- the first list that has none of the best, no later list has any.
local function sort_lists(lists)
  table.sort(lists, function(one, other)
    return is_before(one.rank, one.ref, other.rank, other.ref)
  end)
end

-- The entries that match a prefix, as fields of `entries` in the order of their places: the first `most`, or all. The
-- second value is true if there are more.

-- An empty list with room for the usual ten: growing a list takes longer than filling it.
local function new_list()
  return { nil, nil, nil, nil, nil, nil, nil, nil, nil, nil }
end

-- The first places among members of `words`. Few are wanted, so each is inserted at its position: sorting all of them
-- takes three times as long. Numbers are compared, as in `is_before`.
local function first_of_members(members, most)
  local unpack_place, insert = struct.unpack, table.insert
  local ranks, refs, size, more = new_list(), new_list(), 0, false
  local last_rank, last_ref = math.huge, math.huge
  for at = 1, #members do
    local member = members[at]
    local rank, ref = unpack_place('>dd', member, #member - 15)
    if rank > last_rank or (rank == last_rank and ref > last_ref) then
      more = true
    else
      local before = size
      while before > 0 and (ranks[before] > rank or (ranks[before] == rank and refs[before] > ref)) do
        before = before - 1
      end
      if before == 0 or refs[before] ~= ref then
        insert(ranks, before + 1, rank)
        insert(refs, before + 1, ref)
        size = size + 1
      end
      if size > most then
        ranks[size], refs[size] = nil, nil
        size, more = most, true
      end
      if size == most then
        last_rank, last_ref = ranks[size], refs[size]
      end
    end
  end
  return refs, more
end

-- The third value is the field of `fronts` that holds the first ones, if it exists.
local function match_exactly(keys, prefix, most)
  local from, to = '[' .. prefix, '(' .. prefix .. '\255'
  local fork = redis.call('ZRANGEBYLEX', keys.forks, from, to, 'LIMIT', '0', '1')[1]
  if fork then
    local id = id_of_fork(fork)
    local fields, more, has_front = match_top(keys.tops, id, most)
    return fields, more, has_front and id or ''
  end
  -- There are never more words (shared/autocomplete/hot); UTF-8 has no byte 255.
  local members = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', '1000')
  local fields, more = first_of_members(members, most)
  for at = 1, #fields do
    fields[at] = struct.pack('>d', fields[at])
  end
  return fields, more, ''
end

-- The number of the top in a fork (shared/autocomplete/places).
local function id_of_fork(fork)
  return string.sub(fork, string.find(fork, '\0', 1, true) + 1)
end

-- The first `most` places of a top, as fields of `entries`: its leaves have them in order, rank and field of each
-- (shared/autocomplete/leaves). The second value is true if there are more, the third if it has a front.
local function match_top(tops, id, most)
  local fields, size, sub = new_list(), 0, string.sub
  local field = id .. ':'
  local head, first = unpack(redis.call('HMGET', tops, id, field .. 'A'))
  local has_front, read, last = string.byte(head, 17) == 1, 18, #head
  local leaves = { first }
  while true do
    for at = 1, #leaves do
      local places = leaves[at]
      for byte = 9, #places, 16 do
        if size == most then
          return fields, true, has_front
        end
        size = size + 1
        fields[size] = sub(places, byte, byte + 7)
      end
    end
    if read == last then
      return fields, struct.unpack('>d', head) < math.huge, has_front
    elseif size == most then
      return fields, true, has_front
    end
    -- No leaf has fewer than 8.
    local names, to = {}, math.min(last, read + math.ceil((most - size) / 8))
    for at = read + 1, to do
      names[at - read] = field .. sub(head, at, at)
    end
    read, leaves = to, redis.call('HMGET', tops, unpack(names))
  end
end

-- Prefixes that are one edit away from a query and that some word starts with: a character removed, inserted or
-- replaced, or two neighbours swapped.

-- Characters tried at each position, in the order of their bytes.
local MOST_TRIED = 64
-- A shorter query is not edited, and neither is the part after so many characters.
local LEAST_CHARACTERS, MOST_CHARACTERS = 3, 24
-- Entries collected at most.
local MOST_NEAR = 200

local function characters_of(query)
  local characters = {}
  for character in string.gmatch(query, '[^\128-\191][\128-\191]*') do
    characters[#characters + 1] = character
  end
  return characters
end

-- The characters that follow a prefix in the index.
local function following(words, beginning)
  local characters = {}
  local from, to = '(' .. beginning .. '\1', to_prefix(beginning)
  while #characters < MOST_TRIED do
    local found = redis.call('ZRANGEBYLEX', words, from, to, 'LIMIT', '0', '1')
    if not found[1] then
      break
    end
    local character = string.match(found[1], '^[^\128-\191][\128-\191]*', #beginning + 1)
    characters[#characters + 1] = character
    from = '(' .. beginning .. character .. '\255'
  end
  return characters
end

local function nearby_prefixes(words, characters)
  local prefixes, seen = {}, {}
  local function try(prefix)
    if not seen[prefix] then
      seen[prefix] = true
      prefixes[#prefixes + 1] = prefix
    end
  end
  local size = #characters
  for at = 1, size do
    local beginning = table.concat(characters, '', 1, at - 1)
    local rest = table.concat(characters, '', at + 1)
    try(beginning .. rest)
    if at < size then
      try(beginning .. characters[at + 1] .. characters[at] .. table.concat(characters, '', at + 2))
      for _, character in ipairs(following(words, beginning)) do
        try(beginning .. character .. rest)
        try(beginning .. character .. characters[at] .. rest)
      end
    end
  end
  return prefixes
end

-- As match_exactly, for prefixes one edit away from the query.
local function match_nearby(keys, query)
  local best = new_best(MOST_NEAR)
  local characters = characters_of(query)
  if #characters < LEAST_CHARACTERS then
    return {}, false
  end
  local rest = table.concat(characters, '', math.min(#characters, MOST_CHARACTERS) + 1)
  for at = #characters, MOST_CHARACTERS + 1, -1 do
    characters[at] = nil
  end
  local hot = { ids = {}, known = {} }
  for _, beginning in ipairs(nearby_prefixes(keys.words, characters)) do
    offer_matches(best, keys, string.sub(beginning .. rest, 1, MOST_BYTES), hot)
  end
  offer_tops(best, keys.tops, hot.ids)
  return fields_of_best(best)
end

local function fields_of_best(best)
  sort_best(best)
  local fields = {}
  for at, ref in ipairs(best.refs) do
    fields[at] = field_of(ref)
  end
  return fields, best.cut
end

-- Words read at most for prefixes without a fork: a query that reads more would block all other calls.
local MOST_LOOKED = 4000
-- Tops read at once.
local MOST_TOPS = 100

-- Offers the first entries that match a prefix of few words; for many words it notes their top in `hot`. Most prefixes
-- that a user may have meant have no words.
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

-- Reads heads and first leaves of the tops from this one on.
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

-- Collects the records of the first entries that match, as they are stored, until there are `limit` of them.

-- Adds the records of these fields to `found`, unless they have expired or are among `others`.
local function collect(entries, fields, found, limit, others)
  local size, now_ms = #found, nil
  for from = 1, #fields, limit do
    if size >= limit then
      return
    end
    local records = redis.call('HMGET', entries, unpack(fields, from, math.min(from + limit - 1, #fields)))
    for at = 1, #records do
      local record = records[at]
      local is_gone = others and others[fields[from + at - 1]]
      -- Most never expire: eight zeros.
      if string.byte(record) > 0 then
        now_ms = now_ms or math.floor(clock_us() / 1000)
        is_gone = is_gone or struct.unpack('>d', record) <= now_ms
      end
      if size < limit and not is_gone then
        size = size + 1
        found[size] = record
      end
    end
  end
end

-- Returns the records, the fields of all matches that were looked at, whether expired entries hide some, and the field
-- of `fronts` that holds the first ten, or an empty text.
local function search(keys, prefix, limit)
  local found = new_list()
  local fields, more, front = match_exactly(keys, prefix, limit)
  collect(keys.entries, fields, found, limit)
  if more and #found < limit then
    fields, more = match_exactly(keys, prefix, 200)
    found = new_list()
    collect(keys.entries, fields, found, limit)
  end
  return found, fields, more and #found < limit, front
end

-- The answer for callers: five fields of each record, the first `exact` of which are not edited. A table for each
-- record, as parse_record creates it, would cost more than all else.
local function show(records, exact)
  local shown, size = {}, 0
  local unpack_head, sub = struct.unpack, string.sub
  for at = 1, #records do
    local record = records[at]
    local _, rank, id_bytes, marked_bytes, text_bytes, id_at = unpack_head('>ddHHH', record)
    local text_at = id_at + id_bytes + marked_bytes
    local text = sub(record, text_at, text_at + text_bytes - 1)
    shown[size + 1] = id_bytes == 0 and text or sub(record, id_at, id_at + id_bytes - 1)
    shown[size + 2] = text
    shown[size + 3] = MOST_SCORE - rank
    shown[size + 4] = sub(record, text_at + text_bytes)
    shown[size + 5] = at > exact and 1 or 0
    size = size + 5
  end
  return shown
end

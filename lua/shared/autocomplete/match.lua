-- The entries that match a prefix, as fields of `entries` in the order of their places: the first `most`, or
-- all. The second value is true where there are more.

-- An empty list with room for the ten that are usual: one that grows takes longer than what is put into it.
local function new_list()
  return { nil, nil, nil, nil, nil, nil, nil, nil, nil, nil }
end

-- The first places among members of `words`. Few are wanted, so each is put where it belongs: sorting all of
-- them takes three times as long. Numbers are compared, as in shared/autocomplete/best.
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

-- The third value is the field of `fronts` that tells the first, where there is one.
local function match_exactly(keys, prefix, most)
  local from, to = '[' .. prefix, '(' .. prefix .. '\255'
  local fork = redis.call('ZRANGEBYLEX', keys.forks, from, to, 'LIMIT', '0', '1')[1]
  if fork then
    local id = id_of_fork(fork)
    local fields, more, has_front = match_top(keys.tops, id, most)
    return fields, more, has_front and id or ''
  end
  -- There never are more words (shared/autocomplete/hot); UTF-8 has no byte 255.
  local members = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', '1000')
  local fields, more = first_of_members(members, most)
  for at = 1, #fields do
    fields[at] = struct.pack('>d', fields[at])
  end
  return fields, more, ''
end

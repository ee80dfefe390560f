-- A list that has lost too many of its places is made anew from those of the prefixes one byte longer, which
-- are right already; where these are not hot, from their words.

local function offer_list(best, list)
  for byte = 2, #list, PLACE_BYTES do
    offer(best, place_at(list, byte))
  end
end

-- What one longer prefix has to offer. From `limit` on it may be more than what is offered.
local function offer_child(keys, best, child, limit)
  local last_rank, last_ref
  if string.byte(child, -1) == 0 then
    -- The same text again and again: these are in the order of their places.
    local members =
      redis.call('ZRANGEBYLEX', keys.words, from_prefix(child), to_prefix(child), 'LIMIT', '0', MOST_TOP)
    offer_members(best, members)
    if #members == MOST_TOP then
      local last = members[MOST_TOP]
      last_rank, last_ref = place_at(last, #last - PLACE_BYTES + 1)
    end
  else
    local list = redis.call('HGET', keys.tops, child)
    if list then
      offer_list(best, list)
      if not is_all(list) then
        last_rank, last_ref = place_at(list, #list - PLACE_BYTES + 1)
      end
    else
      local from, to = from_prefix(child), to_prefix(child)
      offer_members(best, redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', MOST_READ))
    end
  end
  if last_rank and is_before(last_rank, last_ref, limit.rank, limit.ref) then
    limit.rank, limit.ref = last_rank, last_ref
  end
end

local function refill(keys, prefix)
  local best, limit = new_best(MOST_TOP), { rank = math.huge, ref = math.huge }
  local from, to = from_prefix(prefix), to_prefix(prefix)
  local found = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', '1')
  while found[1] do
    local child = string.sub(found[1], 1, #prefix + 1)
    offer_child(keys, best, child, limit)
    from = '[' .. prefix .. string.char(string.byte(child, -1) + 1)
    found = redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', '1')
  end
  local list = pack_top(best, limit.rank == math.huge)
  if limit.rank < math.huge then
    local right = places_before(list, limit.rank, limit.ref)
    list = string.sub(list, 1, byte_behind(right + 1) - 1)
  end
  redis.call('HSET', keys.tops, prefix, list)
end

-- Notes that an entry has gone, whose words are gone already.
local function leave_hot(keys, changed, suffixes, entry, ref, place)
  local lists = read_hot(keys.tops, suffixes)
  local prefixes = {}
  for prefix in pairs(lists) do
    prefixes[#prefixes + 1] = prefix
  end
  table.sort(prefixes, function(one, other)
    return #one > #other
  end)
  for _, prefix in ipairs(prefixes) do
    local shorter, before = without_place(lists[prefix], entry.rank, ref, place)
    if shorter and is_all(shorter) and top_size(shorter) <= LEAST_HOT then
      redis.call('HDEL', keys.tops, prefix)
      changed[prefix] = true
    elseif shorter and not is_all(shorter) and top_size(shorter) < LEAST_TOP then
      refill(keys, prefix)
    elseif shorter then
      redis.call('HSET', keys.tops, prefix, shorter)
    end
    if shorter and before < FRONT_PLACES then
      changed[prefix] = true
    end
  end
end

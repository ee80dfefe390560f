-- Collects places in any order and keeps the first of them, each entry once.
-- Numbers are compared, not packed places: the order of strings depends on the server's locale.
-- `looked`: how many were offered.
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

-- False where it is none of the first, and so nothing behind it is.
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

-- Offers places that are packed one behind the other, in their order, as long as they are among the first. True where all are.
local function offer_places(best, places)
  for byte = 1, #places, PLACE_BYTES do
    if not offer(best, place_at(places, byte)) then
      return false
    end
  end
  return true
end

-- Sorts lists of places by the first that they have, which their `rank` and `ref` are: offered in that order, those behind
-- the first that has none of the best have none either.
local function sort_lists(lists)
  table.sort(lists, function(one, other)
    return is_before(one.rank, one.ref, other.rank, other.ref)
  end)
end

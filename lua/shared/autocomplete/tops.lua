-- The first places among all entries that match a prefix, packed one behind the other in their order. Before
-- them stands `all` where these are all that match, or `part`.
local ALL, PART = 'a', 'p'
-- A list never holds more.
local MOST_TOP = 200
-- One that is only a part never holds fewer, so that so many can be suggested.
local LEAST_TOP = 100
-- One that is all is given up with so few.
local LEAST_HOT = 16
-- So many of its entries are in the front of a prefix (shared/autocomplete/fronts).
local FRONT_PLACES = 10

local function is_all(list)
  return string.sub(list, 1, 1) == ALL
end

local function top_size(list)
  return (#list - 1) / PLACE_BYTES
end

-- The first byte of the place behind so many others.
local function byte_behind(places)
  return 2 + places * PLACE_BYTES
end

-- How many places are before this one.
local function places_before(list, rank, ref)
  local low, high = 0, top_size(list)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local other_rank, other_ref = place_at(list, byte_behind(middle))
    if is_before(other_rank, other_ref, rank, ref) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

local function has_place_behind(list, places, place)
  return string.sub(list, byte_behind(places), byte_behind(places + 1) - 1) == place
end

-- The list with this place in it, or nil where nothing changes; and how many are before it.
local function with_place(list, rank, ref, place)
  local size = top_size(list)
  local before = places_before(list, rank, ref)
  if has_place_behind(list, before, place) or (before == size and not is_all(list)) then
    return nil
  end
  local cut = byte_behind(before)
  local longer = string.sub(list, 1, cut - 1) .. place .. string.sub(list, cut)
  if size == MOST_TOP then
    longer = PART .. string.sub(longer, 2, byte_behind(MOST_TOP) - 1)
  end
  return longer, before
end

-- The list without this place, or nil where nothing changes; and how many are before it.
local function without_place(list, rank, ref, place)
  local before = places_before(list, rank, ref)
  if not has_place_behind(list, before, place) then
    return nil
  end
  return string.sub(list, 1, byte_behind(before) - 1) .. string.sub(list, byte_behind(before + 1)), before
end

local function pack_top(best, whole)
  sort_best(best)
  local places = {}
  for at, ref in ipairs(best.refs) do
    places[at] = pack_place(best.ranks[ref], ref)
  end
  return (whole and not best.cut and ALL or PART) .. table.concat(places)
end

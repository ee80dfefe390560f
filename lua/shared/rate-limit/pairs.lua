-- Lists of pairs of doubles, sorted by the first, packed one behind the other.
local PAIR_BYTES = 16

local function pair_at(list, place)
  return struct.unpack('>dd', list, (place - 1) * PAIR_BYTES + 1)
end

local function pack_pair(first, second)
  return struct.pack('>dd', first, second)
end

-- The list without its first `count` pairs.
local function without_first(list, count)
  return count == 0 and list or string.sub(list, count * PAIR_BYTES + 1)
end

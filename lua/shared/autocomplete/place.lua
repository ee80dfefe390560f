-- The place of an entry in the order of suggestions: the greater the score the sooner, then the older. It is
-- packed as two doubles, neither of them negative, so that packed places are in that order too.
local PLACE_BYTES = 16
-- 2^52: the greatest score, and the least one without its sign.
local MOST_SCORE = 4503599627370496

-- What stands for a score in a place.
local function rank_of(score)
  return MOST_SCORE - score
end

local function pack_place(rank, ref)
  return struct.pack('>dd', rank, ref)
end

-- The place that begins at this byte: rank and ref.
local function place_at(packed, byte)
  return struct.unpack('>dd', packed, byte)
end

-- An entry's field in `entries`.
local function field_of(ref)
  return struct.pack('>d', ref)
end

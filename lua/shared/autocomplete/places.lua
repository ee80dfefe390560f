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

-- More words of a prefix are never read where it begins no fork, and it never has as many (shared/autocomplete/hot).
local MOST_READ = 1000
-- Those of so many words are not looked for among the forks.
local MOST_COLD = 32

-- All members with a prefix lie between these; UTF-8 has no byte 255.
local function from_prefix(prefix)
  return '[' .. prefix
end

local function to_prefix(prefix)
  return '(' .. prefix .. '\255'
end

-- Forks: the prefixes behind which words part, wherever many words begin with them (shared/autocomplete/hot). Whoever
-- begins as a fork does, and no shorter one, begins all its words: `forks` is a sorted set without scores, of
--   <prefix>\0<number of its top>
-- and the first of it that begins as a query does is the fork whose words match the query.
local function first_fork(forks, prefix)
  local found = redis.call('ZRANGEBYLEX', forks, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', '0', '1')
  if not found[1] then
    return nil
  end
  local cut = string.find(found[1], '\0', 1, true)
  return string.sub(found[1], 1, cut - 1), string.sub(found[1], cut + 1)
end

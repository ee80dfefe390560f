-- The place of an entry in the order of suggestions: a greater score comes first, at equal scores the older entry. It
-- is packed as two doubles, neither of them negative, so that packed places sort in that order, too.
local PLACE_BYTES = 16
-- 2^52: the greatest score, and the least one without its sign.
local MOST_SCORE = 4503599627370496

-- Represents a score in a place.
local function rank_of(score)
  return MOST_SCORE - score
end

local function pack_place(rank, ref)
  return struct.pack('>dd', rank, ref)
end

-- The place that starts at this byte: rank and ref.
local function place_at(packed, byte)
  return struct.unpack('>dd', packed, byte)
end

-- An entry's field in `entries`.
local function field_of(ref)
  return struct.pack('>d', ref)
end

-- For a prefix without a fork, a query reads no more words than this; it never has as many (shared/autocomplete/hot).
local MOST_READ = 1000
-- So few words are not looked for among the forks.
local MOST_COLD = 32

-- All members with a prefix are between these; UTF-8 has no byte 255.
local function from_prefix(prefix)
  return '[' .. prefix
end

local function to_prefix(prefix)
  return '(' .. prefix .. '\255'
end

-- Forks: the prefixes after which words diverge, for prefixes of many words (shared/autocomplete/hot). Any prefix of a
-- fork, down to the next shorter fork, matches all of its words: `forks` is a sorted set without scores, of
--   <prefix>\0<number of its top>
-- and the first member that extends a query is the fork whose words match the query.
local function first_fork(forks, prefix)
  local found = redis.call('ZRANGEBYLEX', forks, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', '0', '1')
  if not found[1] then
    return nil
  end
  local cut = string.find(found[1], '\0', 1, true)
  return string.sub(found[1], 1, cut - 1), string.sub(found[1], cut + 1)
end

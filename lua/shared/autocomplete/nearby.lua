-- Prefixes that are one edit away from a query and that some word begins with: a character left out, put in,
-- replaced, or two neighbours swapped.

-- So many characters are tried in each place, in the order of their bytes.
local MOST_TRIED = 64
-- A shorter query is taken as it is, and so is what follows so many characters.
local LEAST_CHARACTERS, MOST_CHARACTERS = 3, 24
-- So many entries are collected.
local MOST_NEAR = 200

local function characters_of(query)
  local characters = {}
  for character in string.gmatch(query, '[^\128-\191][\128-\191]*') do
    characters[#characters + 1] = character
  end
  return characters
end

-- The characters that follow a beginning in the index.
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

-- As match_exactly, for what is one edit away from the query.
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

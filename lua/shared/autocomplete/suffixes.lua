-- What of a suffix, and of a query, counts; it may end within a character.
local MOST_BYTES = 64

-- The folded text from each of its word starts on, each once.
local function suffixes_of(marked)
  local suffixes, seen = {}, {}
  local from = 1
  while from do
    local suffix = string.sub((string.gsub(string.sub(marked, from), '\1', '')), 1, MOST_BYTES)
    if not seen[suffix] then
      seen[suffix] = true
      suffixes[#suffixes + 1] = suffix
    end
    local mark = string.find(marked, '\1', from, true)
    from = mark and mark + 1
  end
  return suffixes
end

-- Members of `words`: a suffix, the end of text, and the place of its entry.
local function members_of(suffixes, place)
  local members = {}
  for at, suffix in ipairs(suffixes) do
    members[at] = suffix .. '\0' .. place
  end
  return members
end

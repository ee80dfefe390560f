-- The tags of a job with others, or without them, in their order, and how many they are.
local MOST_TAGS = 20

local function other_tags(before, tags, tags_at, adds)
  local named, list = {}, {}
  for at = tags_at, #tags, 1 do
    named[tags[at]] = true
  end
  for tag in string.gmatch(before, '[^%z]+') do
    if adds or not named[tag] then
      list[#list + 1] = tag
    end
    named[tag] = nil
  end
  for at = tags_at, #tags, 1 do
    if adds and named[tags[at]] then
      list[#list + 1] = tags[at]
      named[tags[at]] = nil
    end
  end
  return table.concat(list, '\0'), #list
end

-- More words of a prefix are never read where it has no list, and it never has as many (shared/autocomplete/hot).
local MOST_READ = 1000

-- All members with a prefix lie between these; UTF-8 has no byte 255.
local function from_prefix(prefix)
  return '[' .. prefix
end

local function to_prefix(prefix)
  return '(' .. prefix .. '\255'
end

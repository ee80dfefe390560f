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

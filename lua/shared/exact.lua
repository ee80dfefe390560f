-- A whole number as text with all its digits. Lua itself writes 14 digits, and not every server passes
-- more to a command; microseconds have 16.
local function exact(number)
  return string.format('%.0f', number)
end

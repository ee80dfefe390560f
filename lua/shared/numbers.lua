-- A whole number as text with all its digits. Lua itself writes 14 digits, and not every server passes
-- more to a command; microseconds have 16. Writing a large double takes twice as long as writing its halves
-- as integers, which may have 32 bits only.
local function exact(number)
  if number < 1000000 or number >= 2147483648000000 then
    return string.format('%.0f', number)
  end
  local low = number % 1000000
  return string.format('%d%06d', (number - low) / 1000000, low)
end

-- As `exact`, for all numbers from `first` to `last`: how to write them, and what to subtract before. Their upper
-- digits are nearly always the same, and writing a double of sixteen digits costs twice as much as writing the lower
-- six.
local function exact_range(first, last)
  local base = first - first % 1000000
  if last - base >= 1000000 then
    return '%.0f', 0
  end
  return exact(base / 1000000) .. '%06d', base
end

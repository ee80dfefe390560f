-- As `exact`, for all numbers from `first` to `last`: how to write them, and what to subtract before.
-- Their upper digits are the same nearly always, and writing a double of sixteen digits costs twice as
-- much as writing the lower six.
local function exact_range(first, last)
  local base = first - first % 1000000
  if last - base >= 1000000 then
    return '%.0f', 0
  end
  return exact(base / 1000000) .. '%06d', base
end

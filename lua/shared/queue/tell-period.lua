-- A spread, appended to a list: the sum and the greatest in microseconds, and the buckets as they are stored. Answers
-- where it ends.
local function tell_spread(told, stored, at)
  local sum, greatest, buckets, from = struct.unpack(SPREAD, stored, at)
  told[#told + 1] = math.floor(sum * 1000 + 0.5)
  told[#told + 1] = math.floor(greatest * 1000 + 0.5)
  told[#told + 1] = string.sub(stored, from, from + buckets * 6 - 1)
  return from + buckets * 6
end

-- A period as it is stored, appended to a list, unless its slot holds another one.
local function tell_period(told, stored, number, length_ms)
  if not stored or struct.unpack('>I4', stored) ~= number then
    return
  end
  local found = { struct.unpack(NUMBER_AND_COUNTS, stored) }
  told[#told + 1] = number * length_ms
  for place = 2, 7 do
    told[#told + 1] = found[place]
  end
  tell_spread(told, stored, tell_spread(told, stored, found[8]))
end

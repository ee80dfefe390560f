-- Puts what is noted into the statistics. Answers whether it did: not where the user misses a right to it.

local function fold(notes, stats)
  local noted, names = redis.pcall('GET', notes), redis.pcall('HGET', stats, 'names')
  if type(noted) ~= 'string' or type(names) == 'table' then
    return false
  end
  local changed = changed_periods(stats, noted, names or '')
  local pairs_of = {}
  for field, value in pairs(changed) do
    pairs_of[#pairs_of + 1] = field
    pairs_of[#pairs_of + 1] = value
  end
  -- What is folded once is not folded again.
  return type(redis.pcall('DEL', notes)) == 'number'
    and type(redis.pcall('HSET', stats, unpack(pairs_of))) == 'number'
end

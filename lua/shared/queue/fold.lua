-- Puts what is noted into the statistics.
-- @include shared/queue/statistics

local function fold(notes, stats)
  local changed = changed_periods(stats, redis.call('GET', notes))
  local pairs_of = {}
  for field, value in pairs(changed) do
    pairs_of[#pairs_of + 1] = field
    pairs_of[#pairs_of + 1] = value
  end
  redis.call('HSET', stats, unpack(pairs_of))
  redis.call('DEL', notes)
end

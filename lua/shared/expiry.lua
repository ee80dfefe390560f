-- Expired fields are dropped by sampling: no index, nothing to keep in step. For added fields, twice as many are
-- sampled. Once half of all fields have expired, as many are dropped as are added, so they never accumulate.

-- Samples so many fields of the hash (in a large hash some twice), and drops those whose value says that they have
-- expired. In a small hash, large values keep the others from being dropped.
local function drop_over(hash, looked_at, is_over)
  local left, count = looked_at, math.min(looked_at, 8)
  while left > 0 do
    -- The embedded demo engine does not know the command; it keeps nothing for long anyway.
    local sample = redis.pcall('HRANDFIELD', hash, string.format('%d', count), 'WITHVALUES')
    local over = {}
    for at = 1, #sample, 2 do
      if is_over(sample[at + 1], sample[at]) then
        over[#over + 1] = sample[at]
      end
    end
    if #over == 0 then
      return
    end
    redis.pcall('HDEL', hash, unpack(over))
    left = left - math.abs(count)
    -- A negative count allows duplicates, which costs a third less.
    count = -math.min(left, 3000)
  end
end

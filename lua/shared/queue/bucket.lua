-- Spans of time are counted in buckets, eight to a doubling, so that each is at most an eighth wide: 0 is below one
-- millisecond, the last one everything from 38 days on.
local LAST_BUCKET = 254

local function bucket_of(span_ms)
  if span_ms < 1 then
    return 0
  end
  local mantissa, exponent = math.frexp(span_ms)
  local bucket = exponent * 8 + math.floor(mantissa * 16) - 15
  return bucket < LAST_BUCKET and bucket or LAST_BUCKET
end

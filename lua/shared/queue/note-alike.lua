-- Remembers for the statistics how long jobs waited or ran.

-- Notes `count` jobs of one name: the sum of their spans, the least and the greatest. Answers whether it did: not where they
-- are in several buckets.
local function note_alike(queue, kind, name, count, sum_ms, least_ms, greatest_ms)
  local bucket = bucket_of(greatest_ms)
  if least_ms ~= greatest_ms and bucket_of(least_ms) ~= bucket then
    return false
  end
  local key = #name < 255 and kind .. name or kind
  -- Clocks may be set back.
  sum_ms, greatest_ms = sum_ms > 0 and sum_ms or 0, greatest_ms > 0 and greatest_ms or 0
  local note = struct.pack(NOTE, #key, key, bucket, count, sum_ms, greatest_ms)
  queue.noted = queue.noted and queue.noted .. note or note
  return true
end

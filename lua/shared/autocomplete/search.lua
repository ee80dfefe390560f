-- Collects the records of the first entries that match, as they are stored, until there are `limit` of them.

-- Adds the records of these fields to `found`, unless they have expired or are among `others`.
local function collect(entries, fields, found, limit, others)
  local size, now_ms = #found, nil
  for from = 1, #fields, limit do
    if size >= limit then
      return
    end
    local records = redis.call('HMGET', entries, unpack(fields, from, math.min(from + limit - 1, #fields)))
    for at = 1, #records do
      local record = records[at]
      local is_gone = others and others[fields[from + at - 1]]
      -- Most never expire: eight zeros.
      if string.byte(record) > 0 then
        now_ms = now_ms or math.floor(clock_us() / 1000)
        is_gone = is_gone or struct.unpack('>d', record) <= now_ms
      end
      if size < limit and not is_gone then
        size = size + 1
        found[size] = record
      end
    end
  end
end

-- Returns the records, the fields of all that match, as far as they were looked at, whether expired entries
-- hide some, and the field of `fronts` that tells the first ten, or an empty text.
local function search(keys, prefix, limit)
  local found = new_list()
  local fields, more, front = match_exactly(keys, prefix, limit)
  collect(keys.entries, fields, found, limit)
  if more and #found < limit then
    fields, more = match_exactly(keys, prefix, 200)
    found = new_list()
    collect(keys.entries, fields, found, limit)
  end
  return found, fields, more and #found < limit, front
end

-- Adds to `shown` what callers see of entries, unless they have expired or are among `others`, until there are
-- `limit` of them. A table for each record, as parse_record makes it, would cost more than all else.
local SHOWN_FIELDS = 5

local function reveal(entries, fields, shown, limit, others)
  local size, wanted, edited = #shown, limit * SHOWN_FIELDS, others and 1 or 0
  local unpack_head, sub = struct.unpack, string.sub
  local now_ms
  for from = 1, #fields, limit do
    if size >= wanted then
      return
    end
    local records = redis.call('HMGET', entries, unpack(fields, from, math.min(from + limit - 1, #fields)))
    for at = 1, #records do
      local record = records[at]
      local expires_at_ms, rank, id_bytes, marked_bytes, text_bytes, id_at = unpack_head('>ddHHH', record)
      if expires_at_ms > 0 then
        now_ms = now_ms or math.floor(clock_us() / 1000)
      end
      local is_gone = expires_at_ms > 0 and expires_at_ms <= now_ms
      if size < wanted and not is_gone and not (others and others[fields[from + at - 1]]) then
        local text_at = id_at + id_bytes + marked_bytes
        local text = sub(record, text_at, text_at + text_bytes - 1)
        shown[size + 1] = id_bytes == 0 and text or sub(record, id_at, id_at + id_bytes - 1)
        shown[size + 2] = text
        shown[size + 3] = MOST_SCORE - rank
        shown[size + 4] = sub(record, text_at + text_bytes)
        shown[size + 5] = edited
        size = size + SHOWN_FIELDS
      end
    end
  end
end

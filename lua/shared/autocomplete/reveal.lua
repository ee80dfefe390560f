-- Adds to `shown` what callers see of entries, unless they have expired or are among `others`, until there are
-- `limit` of them.
local SHOWN_FIELDS = 5

-- `text_at`: the byte before the text. A table for each record, as parse_record makes it, would cost more than all else.
local function show(shown, record, rank, id_bytes, text_at, text_bytes, edited)
  local size = #shown
  local text_to = text_at + text_bytes
  local text = string.sub(record, text_at + 1, text_to)
  shown[size + 1] = id_bytes == 0 and text or string.sub(record, HEAD_BYTES + 1, HEAD_BYTES + id_bytes)
  shown[size + 2] = text
  shown[size + 3] = MOST_SCORE - rank
  shown[size + 4] = string.sub(record, text_to + 1)
  shown[size + 5] = edited
end

local function reveal(entries, fields, shown, limit, others)
  local wanted, edited = limit * SHOWN_FIELDS, others and 1 or 0
  local now_ms
  for from = 1, #fields, limit do
    if #shown >= wanted then
      return
    end
    local to = math.min(from + limit - 1, #fields)
    for at, record in ipairs(redis.call('HMGET', entries, unpack(fields, from, to))) do
      local expires_at_ms, rank, id_bytes, marked_bytes, text_bytes = struct.unpack('>ddHHH', record)
      if expires_at_ms > 0 then
        now_ms = now_ms or math.floor(clock_us() / 1000)
      end
      local is_other = others and others[fields[from + at - 1]]
      if #shown < wanted and not is_other and not has_expired(expires_at_ms, now_ms) then
        show(shown, record, rank, id_bytes, HEAD_BYTES + id_bytes + marked_bytes, text_bytes, edited)
      end
    end
  end
end

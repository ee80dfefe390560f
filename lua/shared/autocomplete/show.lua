-- What callers see of records, the first `exact` of which are not edited: five fields of each. A table for each record, as
-- parse_record makes it, would cost more than all else.
local function show(records, exact)
  local shown, size = {}, 0
  local unpack_head, sub = struct.unpack, string.sub
  for at = 1, #records do
    local record = records[at]
    local _, rank, id_bytes, marked_bytes, text_bytes, id_at = unpack_head('>ddHHH', record)
    local text_at = id_at + id_bytes + marked_bytes
    local text = sub(record, text_at, text_at + text_bytes - 1)
    shown[size + 1] = id_bytes == 0 and text or sub(record, id_at, id_at + id_bytes - 1)
    shown[size + 2] = text
    shown[size + 3] = MOST_SCORE - rank
    shown[size + 4] = sub(record, text_at + text_bytes)
    shown[size + 5] = at > exact and 1 or 0
    size = size + 5
  end
  return shown
end

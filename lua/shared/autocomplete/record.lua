-- What is stored of an entry:
--   expires_at_ms, rank, length of id, of marked and of text, id, marked, text, payload
-- `id` is empty where it is the text; `marked` is the folded text with \1 before each word start but the first.
local HEAD_BYTES = 22

local function pack_record(entry)
  local id = entry.id == entry.text and '' or entry.id
  local head = struct.pack('>ddHHH', entry.expires_at_ms, entry.rank, #id, #entry.marked, #entry.text)
  return head .. id .. entry.marked .. entry.text .. entry.payload
end

local function parse_record(record)
  local expires_at_ms, rank, id_bytes, marked_bytes, text_bytes = struct.unpack('>ddHHH', record)
  local marked_at = HEAD_BYTES + id_bytes
  local text_at = marked_at + marked_bytes
  local text = string.sub(record, text_at + 1, text_at + text_bytes)
  return {
    expires_at_ms = expires_at_ms,
    rank = rank,
    id = id_bytes == 0 and text or string.sub(record, HEAD_BYTES + 1, marked_at),
    marked = string.sub(record, marked_at + 1, text_at),
    text = text,
    payload = string.sub(record, text_at + text_bytes + 1),
  }
end

local function has_expired(expires_at_ms, now_ms)
  return expires_at_ms > 0 and expires_at_ms <= now_ms
end

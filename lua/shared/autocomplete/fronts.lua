-- The front of a top: the ready answer of its first entries, so that the first suggestions cost one plain HGET. In
-- `fronts`, by the number of the top:
--   the layout, the length of the codec's name, the name
--   how many forks; of each the length of the shortest prefix that it answers, its own length, and itself
--   of each entry its rank; the length of its id, which is empty where it is the text; how many bytes of its text are as in
--   that of the first one, and how many follow; the length of its payload; then id, what follows of the text, and payload
-- A front itself says which queries it answers, so reusing a number does no harm. The call that changes it renews it at
-- its end. No front exists if one of the first entries expires, because readers without a clock cannot check that, or
-- if the entries are large: each of their tops would store them again.
local MOST_FRONT_BYTES = 4096

-- The part of a text that is equal to the beginning of the first one. Often the text starts like the one before it,
-- `start`.
local function start_of(first, start, text)
  if start ~= '' and string.sub(text, 1, #start) == start then
    return start
  end
  return common_start(first, text)
end

-- Formats records for a front.
local function report_records(parts, records)
  local first, start = '', ''
  for at = 1, #records do
    local record = records[at]
    local _, rank, id_bytes, marked_bytes, text_bytes, id_at = struct.unpack('>ddHHH', record)
    local text_at = id_at + id_bytes + marked_bytes
    local payload_at = text_at + text_bytes
    local text = string.sub(record, text_at, payload_at - 1)
    start = start_of(first, start, text)
    first = at == 1 and text or first
    local lengths = { id_bytes, #start, text_bytes - #start, #record - payload_at + 1 }
    parts[#parts + 1] = struct.pack('>dHHHH', rank, unpack(lengths))
    parts[#parts + 1] = string.sub(record, id_at, id_at + id_bytes - 1)
    parts[#parts + 1] = string.sub(record, text_at + #start)
  end
end

local function front_head(top, codec)
  local parts, size = { INDEX_LAYOUT, string.char(#codec), codec, '' }, 0
  for prefix, least in pairs(prefixes_of(top)) do
    size = size + 1
    parts[size + 4] = string.char(least, #prefix) .. prefix
  end
  if size > 255 then
    return nil
  end
  parts[4] = string.char(size)
  return table.concat(parts)
end

-- The first entries, which are in the first leaf.
local function first_fields(tops, top)
  local first = leaf_of(top, 'A')
  read_leaves(tops, { top }, { first })
  local fields = {}
  for at = 1, FRONT_PLACES do
    fields[at] = string.sub(first.places, at * PLACE_BYTES - 7, at * PLACE_BYTES)
  end
  return fields
end

-- Nil if there must be none.
local function make_front(keys, codec, top)
  local head = not top.is_gone and #codec < 256 and front_head(top, codec)
  if not head then
    return nil
  end
  local records, bytes = redis.call('HMGET', keys.entries, unpack(first_fields(keys.tops, top))), 0
  for _, record in ipairs(records) do
    bytes = bytes + #record
    if string.byte(record) > 0 or bytes > MOST_FRONT_BYTES then
      return nil
    end
  end
  local parts = { head }
  report_records(parts, records)
  return table.concat(parts)
end

-- Nil if there was none, and still is none.
local function renew_front(keys, codec, top)
  local front = make_front(keys, codec, top) or top.has_front == 1 and ''
  local has_front = front and front ~= '' and 1 or 0
  if top.has_front ~= has_front then
    top.has_front, top.has_new_head = has_front, true
  end
  return front
end

-- Bytes of fronts written per command.
local MOST_WRITTEN = 16384

local function renew_fronts(keys, known, codec)
  local written, bytes = {}, 0
  for id, top in pairs(known.open) do
    local front = top.has_new_front and renew_front(keys, codec, top)
    if front == '' then
      redis.call('HDEL', keys.fronts, id)
    elseif front then
      written[#written + 1] = id
      written[#written + 1] = front
      bytes = bytes + #front
    end
    if bytes > MOST_WRITTEN then
      redis.call('HSET', keys.fronts, unpack(written))
      written, bytes = {}, 0
    end
  end
  if written[1] then
    redis.call('HSET', keys.fronts, unpack(written))
  end
end

-- Notes that the stored data of an entry has changed, but not its place.
local function note_changed(keys, known, suffixes, one)
  local passed_of, tops = { ids = {} }, {}
  for _, suffix in ipairs(suffixes) do
    note_passed(passed_of, (walk_forks(keys, known, suffix)))
  end
  read_tops(keys.tops, known, passed_of.ids)
  for at, id in ipairs(passed_of.ids) do
    tops[at] = known.open[id]
  end
  for _, found in ipairs(find_leaves(keys.tops, tops, one)) do
    if found.at == 1 and find_place(found.leaf, one) < FRONT_PLACES then
      change_front(known, found.top)
    end
  end
end

-- The front of a hot prefix: what its first entries are answered as, so that the first suggestions cost one plain HGET:
--   the layout, the length of the codec's name, the name, then of each entry the length of its record and the record
-- Each call that changes one of them notes the prefix in `changed` and renews the front at its end. A prefix has none where one
-- of its first entries expires, which nobody without a clock can judge, or where they are large: every such prefix of theirs would
-- hold them again.
local MOST_FRONT_BYTES = 4096

-- Notes that what is stored of an entry has changed, and its place has not.
local function note_changed(keys, changed, entry, ref)
  for prefix, list in pairs((read_hot(keys.tops, suffixes_of(entry.marked)))) do
    if places_before(list, entry.rank, ref) < FRONT_PLACES then
      changed[prefix] = true
    end
  end
end

-- Nil where there must be none.
local function make_front(keys, codec, prefix)
  local list = redis.call('HGET', keys.tops, prefix)
  if not list or #codec > 255 then
    return nil
  end
  local fields = {}
  for at = 1, math.min(FRONT_PLACES, top_size(list)) do
    local byte = byte_behind(at) - 8
    fields[at] = string.sub(list, byte, byte + 7)
  end
  local parts, bytes = { INDEX_LAYOUT, string.char(#codec), codec }, 0
  for _, record in ipairs(redis.call('HMGET', keys.entries, unpack(fields))) do
    bytes = bytes + #record
    if string.byte(record) > 0 or bytes > MOST_FRONT_BYTES then
      return nil
    end
    parts[#parts + 1] = struct.pack('>H', #record)
    parts[#parts + 1] = record
  end
  return table.concat(parts)
end

local function renew_fronts(keys, codec, changed)
  for prefix in pairs(changed) do
    local front = make_front(keys, codec, prefix)
    if front then
      redis.call('HSET', keys.fronts, prefix, front)
    else
      redis.call('HDEL', keys.fronts, prefix)
    end
  end
end

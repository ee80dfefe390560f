-- One message in the log: a stream entry `<position>-0` with the fields
--   t  milliseconds it lives, counted from its position; 0: it stays
--   x  '<origin>', and '#<id>' behind it when the message got its position later than its id
--   b  the body
-- Without t and x it stays and has no extras. Most feeds have entries of one kind, and Redis stores the
-- names of equal fields once a node.

-- expires_at_ms is 0 when the message stays.
local function parse_entry(raw)
  local place = string.sub(raw[1], 1, -3)
  local position = tonumber(place)
  local fields = raw[2]
  local ttl_ms, extra, body = 0, '', fields[2]
  if fields[1] == 't' then
    ttl_ms, extra, body = tonumber(fields[2]), fields[4], fields[6]
  end
  local entry = {
    place = place,
    position = position,
    id = position,
    ttl_ms = ttl_ms,
    origin = extra,
    body = body,
    expires_at_ms = ttl_ms == 0 and 0 or math.floor(position / 1000) + ttl_ms,
    claims = 0,
  }
  local mark = extra ~= '' and string.find(extra, '#', 1, true)
  if mark then
    entry.origin = string.sub(extra, 1, mark - 1)
    entry.id = tonumber(string.sub(extra, mark + 1))
  end
  return entry
end

-- The entries from one place to another, oldest first. A place is a position as text; '+' is the end.
local function entries_between(log, from, to, count)
  local entries = redis.call('XRANGE', log, from, to, 'COUNT', count)
  for at, raw in ipairs(entries) do
    entries[at] = parse_entry(raw)
  end
  return entries
end

local function entry_at(log, place)
  return entries_between(log, place, place, 1)[1]
end

local function has_expired(entry, now_ms)
  return entry.expires_at_ms ~= 0 and entry.expires_at_ms <= now_ms
end

-- Bodies may be large, so nobody reads more than this at once: a page or a claim ends there.
local ENOUGH_BYTES = 4194304

-- How many entries to read next: `wanted`, unless the bodies read so far promise too many bytes.
local function next_chunk(wanted, read_count, read_bytes)
  if read_count == 0 then
    return math.min(wanted, 20)
  end
  local left = math.max(0, ENOUGH_BYTES - read_bytes)
  return math.max(1, math.min(wanted, math.floor(left * read_count / math.max(1, read_bytes))))
end

-- Appends what an answer tells of a message; the order of `messages:[…]` in every head.
local function tell_message(answer, entry)
  local n = #answer
  answer[n + 1] = entry.position
  answer[n + 2] = entry.id
  answer[n + 3] = entry.expires_at_ms
  answer[n + 4] = entry.claims
  answer[n + 5] = entry.body
end

local function tell_messages(entries)
  local answer = {}
  for _, entry in ipairs(entries) do
    tell_message(answer, entry)
  end
  return answer
end

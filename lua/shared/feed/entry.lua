-- One message in the log: a stream entry `<position>-0` with the fields
--   t  milliseconds it lives, counted from its position; 0: it stays
--   x  '<origin>', and '#<id>' behind it when the message got its position later than its id
--   b  the body
-- Without t and x it stays and has no extras. Most feeds have entries of one kind, and Redis stores the
-- names of equal fields once a node.

-- Lives that this call has read, and extras without an id: entries of one feed are much alike, and
-- reading a text again costs more than finding what it meant.
local lives_read, plain_extras = {}, {}

-- What an entry says, as values: a page is read without a table for each message. expires_at_ms is 0 when
-- the message stays.
local function read_entry(raw)
  local place, fields = string.sub(raw[1], 1, -3), raw[2]
  local position = tonumber(place)
  if fields[1] ~= 't' then
    return place, position, position, 0, '', fields[2], 0
  end
  local ttl_ms, extra, id = lives_read[fields[2]], fields[4], position
  if not ttl_ms then
    ttl_ms = tonumber(fields[2])
    lives_read[fields[2]] = ttl_ms
  end
  local expires_at_ms = ttl_ms == 0 and 0 or (position - position % 1000) / 1000 + ttl_ms
  if not plain_extras[extra] then
    local mark = string.find(extra, '#', 1, true)
    if mark then
      id = tonumber(string.sub(extra, mark + 1))
      extra = string.sub(extra, 1, mark - 1)
    else
      plain_extras[extra] = true
    end
  end
  return place, position, id, expires_at_ms, extra, fields[6], ttl_ms
end

local function parse_entry(raw)
  local place, position, id, expires_at_ms, origin, body, ttl_ms = read_entry(raw)
  return {
    place = place,
    position = position,
    id = id,
    expires_at_ms = expires_at_ms,
    origin = origin,
    body = body,
    ttl_ms = ttl_ms,
    claims = 0,
  }
end

-- The entries from one place to another, oldest first. A place is a position as text; '+' is the end.
local function entries_between(log, from, to, count)
  local entries = redis.call('XRANGE', log, from, to, 'COUNT', count)
  for at = 1, #entries do
    entries[at] = parse_entry(entries[at])
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

-- Adds what an answer tells of a message behind its first `n` values; the order of `messages:[…]` in
-- every head.
local function tell(answer, n, position, id, expires_at_ms, claims, body)
  answer[n + 1] = position
  answer[n + 2] = id
  answer[n + 3] = expires_at_ms
  answer[n + 4] = claims
  answer[n + 5] = body
end

local function tell_message(answer, entry)
  tell(answer, #answer, entry.position, entry.id, entry.expires_at_ms, entry.claims, entry.body)
end

local function tell_messages(entries)
  local answer = {}
  for _, entry in ipairs(entries) do
    tell_message(answer, entry)
  end
  return answer
end

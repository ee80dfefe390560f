-- Large bodies. A body of more than INLINE_BYTES is stored under the id of its message in the hash `bodies`; its entry
-- in the log, or its parked message, has its size. So commands that remove, expire, count or find messages read at most
-- INLINE_BYTES of each.

local function is_large(bytes)
  return bytes > INLINE_BYTES
end

-- The body of an entry.
local function body_of(bodies, entry)
  return entry.body or redis.call('HGET', bodies, exact(entry.id)) or ''
end

-- How many bytes of an entry were read.
local function read_of(entry)
  return entry.body and entry.bytes or 0
end

-- One message in the log: a stream entry `<position>-0` with the fields
--   t  its TTL in milliseconds, counted from its position; 0: it never expires
--   x  '<origin>', followed by '#<id>' if the message got its position later than its id
--   b  the body; or s, the size of one that is stored apart (shared/feed/body)
-- Without t and x it never expires, has no extras and a body that is not large. Most feeds have entries of one kind,
-- and Redis stores the names of equal fields once a node.

-- TTLs that this call has parsed, and extras without an id: entries of one feed are similar, and parsing a text again
-- costs more than looking up its value.
local lives_read, plain_extras = {}, {}

-- The values of an entry: a page is read without a table for each message. expires_at_ms is 0 if the message never
-- expires. A body that is stored apart is nil, and its size follows.
local function read_entry(raw)
  local place, fields = string.sub(raw[1], 1, -3), raw[2]
  local position = tonumber(place)
  if fields[1] ~= 't' then
    return place, position, position, 0, '', fields[2]
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
  if fields[5] == 's' then
    return place, position, id, expires_at_ms, extra, nil, tonumber(fields[6])
  end
  return place, position, id, expires_at_ms, extra, fields[6]
end

local function parse_entry(raw)
  local place, position, id, expires_at_ms, origin, body, size = read_entry(raw)
  -- No more than eight fields: a table of nine takes the room of sixteen.
  return {
    place = place,
    position = position,
    id = id,
    expires_at_ms = expires_at_ms,
    origin = origin,
    bytes = size or #body,
    body = body,
    claims = 0,
  }
end

-- The entries from one position to a place, oldest first, as Redis returns them. The place is a position as text; '+'
-- is the end.
local function raws_between(keys, feed, from, to, count)
  if from > feed.moved then
    return redis.call('XRANGE', keys.log, exact(from), to, 'COUNT', count)
  end
  local raws = redis.call('XRANGE', keys.early, exact(from), to, 'COUNT', count)
  if #raws < count then
    for _, raw in ipairs(redis.call('XRANGE', keys.log, '-', to, 'COUNT', count - #raws)) do
      raws[#raws + 1] = raw
    end
  end
  return raws
end

local function entries_between(keys, feed, from, to, count)
  local entries = raws_between(keys, feed, from, to, count)
  for at = 1, #entries do
    entries[at] = parse_entry(entries[at])
  end
  return entries
end

local function entry_at(keys, feed, place)
  local raws
  if feed.moved == 0 or tonumber(place) > feed.moved then
    raws = redis.call('XRANGE', keys.log, place, place, 'COUNT', '1')
  else
    raws = redis.call('XRANGE', keys.early, place, place, 'COUNT', '1')
  end
  return raws[1] and parse_entry(raws[1])
end

-- Stores a message in the log; see shared/feed/entry for the fields.
local function add_entry(log, place, ttl_ms, extra, body)
  if ttl_ms == '0' and extra == '' then
    redis.call('XADD', log, place, 'b', body)
  else
    redis.call('XADD', log, place, 't', ttl_ms, 'x', extra, 'b', body)
  end
end

-- Stores a message of any size in the log.

-- Stores a message whose large body is stored apart already.
local function add_large_entry(keys, feed, place, ttl_ms, extra, bytes)
  stand_apart(keys.meta, feed)
  redis.call('XADD', keys.log, place, 't', ttl_ms, 'x', extra, 's', bytes)
  feed.large = feed.large + bytes
end

-- Stores a message whose place is its id.
local function add_message(keys, feed, place, ttl_ms, origin, body)
  if is_large(#body) then
    redis.call('HSET', keys.bodies, place, body)
    add_large_entry(keys, feed, place, ttl_ms, origin, #body)
  else
    add_entry(keys.log, place, ttl_ms, origin, body)
  end
end

-- Stores a message that has its id already at the next position of a log. Its TTL counts from its id, an entry's from
-- its position. A large body that comes with it, from another feed or from a time when such bodies were parked inline,
-- is stored apart; otherwise it is already.
local function store_late(keys, feed, entry)
  feed.last = feed.last + 1
  local place, id = exact(feed.last), exact(entry.id)
  local extra, ttl_ms = entry.origin .. '#' .. id, '0'
  if entry.expires_at_ms ~= 0 then
    ttl_ms = exact(math.max(1, entry.expires_at_ms - math.floor(feed.last / 1000)))
  end
  if is_large(entry.bytes) then
    if entry.body then
      redis.call('HSET', keys.bodies, id, entry.body)
    end
    add_large_entry(keys, feed, place, ttl_ms, extra, entry.bytes)
  else
    add_entry(keys.log, place, ttl_ms, extra, entry.body)
  end
  redis.call('HSET', keys.parked, id, '@' .. place)
  feed.bytes = feed.bytes + entry.bytes
  if ttl_ms == '0' then
    feed.lives_until = -1
  else
    local expires_at_ms = math.floor(feed.last / 1000) + ttl_ms
    redis.call('ZADD', keys.expiry, expires_at_ms, place)
    note_expiry(feed, expires_at_ms)
  end
end

-- How many messages are visible.
local function log_length(keys, feed)
  local length = redis.call('XLEN', keys.log)
  return feed.moved == 0 and length or length + redis.call('XLEN', keys.early)
end

-- Whether a planned moment of a feed has come; 0: nothing is planned.
local function has_come(moment, now)
  return moment ~= 0 and moment <= now
end

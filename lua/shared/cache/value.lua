-- A stored value: one string, so that a hit is one plain GET. A head, then the payload. Numbers are big-endian, so that
-- every language reads them without a library.
--   1      layout
--   2      VALUE_FLAGS: no payload (null, or undefined); levels may hold it
--   3-4    length of the head: the payload follows it
--   5-10   created, in milliseconds of the server
--   11-14  how long the load took, in milliseconds
--   15-20  fresh until         21-26  may be served until
--   27-33  token of the load   34-40  version, 0: none
--   41     length of the codec's name, then the name
--   then   tags in the order of their names: length of the name, the name, its generation in 7 bytes
local VALUE_LAYOUT = 1
local VALUE_FLAGS = bits({ 'null', 'undefined', 'held' })
local LONGEST_HEAD = 8191
-- Redis expires a value this long after it may be served: no clock is that late.
local VALUE_SLACK_MS = 5000

local function read_number(text, at, length)
  local number = 0
  for place = at, at + length - 1 do
    number = number * 256 + string.byte(text, place)
  end
  return number
end

local function number_bytes(number, length)
  local digits = {}
  for place = length, 1, -1 do
    digits[place] = string.char(number % 256)
    number = math.floor(number / 256)
  end
  return table.concat(digits)
end

-- The head of the value, or of none: then its token is 0. Its payload is not read.
local function read_head(value)
  local head = redis.call('GETRANGE', value, '0', LONGEST_HEAD - 1)
  local layout = string.byte(head) or VALUE_LAYOUT
  if layout ~= VALUE_LAYOUT then
    return { layout = layout }
  end
  -- A truncated or impossible head is no value of ours: treated as absent.
  local length = #head > 40 and read_number(head, 3, 2) or 0
  local codec_ends = 41 + (string.byte(head, 41) or 0)
  if codec_ends > length or length > #head then
    return { layout = VALUE_LAYOUT, token = 0, version = 0, stale_until_ms = 0 }
  end
  local flags = string.byte(head, 2)
  return {
    layout = layout,
    flags = flags % VALUE_FLAGS.held,
    held = flags >= VALUE_FLAGS.held,
    length = length,
    created_at_ms = read_number(head, 5, 6),
    load_ms = read_number(head, 11, 4),
    fresh_until_ms = read_number(head, 15, 6),
    stale_until_ms = read_number(head, 21, 6),
    token = read_number(head, 27, 7),
    version = read_number(head, 34, 7),
    codec = string.sub(head, 42, codec_ends),
    tags = string.sub(head, codec_ends + 1, length),
  }
end

local function open_head(value)
  local head = read_head(value)
  if head.layout ~= VALUE_LAYOUT then
    return redis.error_reply('LAYOUT ' .. head.layout)
  end
  return nil, head
end

-- A value and its load.
local function open_entry(value, load)
  local refusal, head = open_head(value)
  if refusal then
    return refusal
  end
  local unknown, known = open_load(load)
  return unknown, head, known
end

-- True if the value may be served to a caller that knows these generations of its tags.
local function may_serve(head, tags, now_ms)
  return head.stale_until_ms > now_ms and head.tags == tags
end

-- Writes a value; see shared/cache/envelope. The first write may be rejected for lack of memory.
local function keep_value(value, what, payload, now_ms)
  local fresh_until_ms = now_ms + what.ttl_ms
  local stale_until_ms = fresh_until_ms + what.stale_while_revalidate_ms
  local envelope = table.concat({
    string.char(VALUE_LAYOUT, what.flags),
    number_bytes(41 + #what.codec + #what.tags, 2),
    number_bytes(now_ms, 6),
    number_bytes(math.min(what.load_ms, 4294967295), 4),
    number_bytes(fresh_until_ms, 6),
    number_bytes(stale_until_ms, 6),
    number_bytes(what.token, 7),
    number_bytes(what.version, 7),
    string.char(#what.codec),
    what.codec,
    what.tags,
    payload,
  })
  redis.call('SET', value, envelope, 'PX', stale_until_ms - now_ms + VALUE_SLACK_MS)
  return fresh_until_ms, stale_until_ms
end

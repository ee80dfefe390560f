-- A delayed message waits outside the log and gets its position when it becomes visible, so no reader
-- can have passed it. Its id, given at once, stays valid: `parked` leads from the id to the message
-- ('<ttl_ms> <origin>\n<body>', or '<ttl_ms> <origin> <bytes>\n' when its body is large), later to its position
-- ('@<position>').

-- The parked message as an entry without a position; its place is empty, where nothing ever is.
local function parse_parked(id, text)
  local ttl_ms, origin, size, start = string.match(text, '^(%d+) (%S*) ?(%d*)\n()')
  local life = tonumber(ttl_ms)
  return {
    id = id,
    place = '',
    position = 0,
    origin = origin,
    bytes = tonumber(size) or #text - start + 1,
    body = size == '' and string.sub(text, start) or nil,
    claims = 0,
    expires_at_ms = life == 0 and 0 or math.floor(id / 1000) + life,
  }
end

-- A delayed message waits outside the log and gets its position when it becomes visible, so no reader
-- can have passed it. Its id, given at once, stays valid: `parked` leads from the id to the message
-- ('<ttl_ms> <origin>\n<body>'), later to its position ('@<position>').

-- The parked message as an entry without a position; its place is empty, where nothing ever is.
local function parse_parked(id, text)
  local ttl_ms, origin, start = string.match(text, '^(%d+) (%S*)\n()')
  local life = tonumber(ttl_ms)
  return {
    id = id,
    place = '',
    position = 0,
    ttl_ms = life,
    origin = origin,
    body = string.sub(text, start),
    claims = 0,
    expires_at_ms = life == 0 and 0 or math.floor(id / 1000) + life,
  }
end

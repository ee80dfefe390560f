-- Writes a value; see shared/cache/envelope. What is written first may be refused for lack of memory.
local function keep_value(value, what, payload, now_ms)
  local fresh_until_ms = now_ms + what.fresh_ms
  local stale_until_ms = fresh_until_ms + what.stale_ms
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

-- Removes what has expired among these entries, one at least and no more than a call does. True when there was one.
local function unhide(keys, known, fields, now_ms)
  local found = false
  for _, field in ipairs(fields) do
    local record = redis.call('HGET', keys.entries, field)
    if has_expired(struct.unpack('>d', record), now_ms) then
      remove_entry(keys, known, field, record)
      found = true
    end
    if known.work > MOST_WORK then
      break
    end
  end
  return found
end

-- The quick way of a lock that nobody waits for: reads and writes its state as text, field for field as
-- shared/lock/state and shared/lock/save do, without taking it apart. Anything else takes the long way.

-- The newest token of a lock that is free, for an attempt other than the one that gave it back.
local function free_token(stored, id)
  if not stored then
    return '0'
  end
  local token, last_id = string.match(stored, '^1 %- (%d+) 0 0 (%S*)')
  return last_id ~= id and token or nil
end

-- When the lease of this token ends, and the attempt that holds it.
local function held_by(stored, token)
  local known, expires_at_ms, id = string.match(stored or '', '^1 x (%d+) (%d+) 0 (%S*)')
  if known == token then
    return tonumber(expires_at_ms), id
  end
  return nil
end

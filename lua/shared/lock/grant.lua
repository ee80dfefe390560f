-- The token of the next holder, as text.
local function new_token(lock, now_us)
  return string.format('%.0f', next_token(lock.token, now_us))
end

-- Makes the attempt the only holder.
local function grant(lock, id, holder, token, expires_at_ms)
  lock.mode = 'x'
  lock.token = token
  lock.expires_at_ms = expires_at_ms
  lock.id = id
  lock.holder = holder
end

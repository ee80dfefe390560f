-- Makes the attempt the only holder.
local function grant(lock, id, holder, lease_ms, now_us)
  lock.mode = 'x'
  lock.token = string.format('%.0f', next_token(lock.token, now_us))
  lock.expires_at_ms = math.floor(now_us / 1000) + lease_ms
  lock.id = id
  lock.holder = holder
end

local function has_expired(entry, now_ms)
  return entry.expires_at_ms ~= 0 and entry.expires_at_ms <= now_ms
end

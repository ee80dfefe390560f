-- Moves messages that had their last chance to the dead-letter feed, under their old ids. That feed stays
-- until somebody clears or empties it: nobody may write to it for long, and it must not vanish unread.
local function bury_entries(dead, dead_log, dead_expiry, dead_parked, entries, dead_ms, now_us)
  dead.lives_until = -1
  dead.kept_until = -1
  dead.last = math.max(dead.last, now_us - 1)
  for _, entry in ipairs(entries) do
    if dead_ms > 0 then
      entry.expires_at_ms = math.floor(now_us / 1000) + dead_ms
    end
    store_late(dead, dead_log, dead_expiry, dead_parked, entry)
  end
end

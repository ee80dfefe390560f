-- Stores messages that had their last chance in the dead-letter feed, under their old ids. `bodies`: where theirs are.
local function store_dead(dead, dead_keys, bodies, entries, dead_ms, now_us)
  dead.last = math.max(dead.last, now_us - 1)
  for _, entry in ipairs(entries) do
    if dead_ms > 0 then
      entry.expires_at_ms = math.floor(now_us / 1000) + dead_ms
    end
    entry.body = body_of(bodies, entry)
    store_late(dead, dead_keys, entry)
  end
end

-- Does so, removes as many that have expired there, and closes holes.
local function bury_entries(dead, dead_keys, bodies, entries, dead_ms, now_us)
  local now_ms = math.floor(now_us / 1000)
  begin_feed(dead_keys.meta, dead, now_us)
  store_dead(dead, dead_keys, bodies, entries, dead_ms, now_us)
  if has_come(dead.due_at, now_ms) then
    reap_expired(dead, dead_keys, now_ms, 50 + #entries)
  end
  if dead.look or dead.moved ~= 0 then
    compact(dead, dead_keys, now_ms, #entries)
  end
  if must_move(dead, now_ms) or dead.kept_until > 0 then
    local moving = {
      dead_keys.meta,
      dead_keys.log,
      dead_keys.early,
      dead_keys.bodies,
      dead_keys.claimed,
      dead_keys.leases,
      dead_keys.returned,
      dead_keys.work,
      dead_keys.expiry,
      dead_keys.parked,
    }
    move_keys(dead, moving, now_ms)
  end
  save_feed(dead_keys.meta, dead)
end

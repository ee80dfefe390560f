-- Tells Redis of all keys of a feed the time that `must_move` has set.
local function move_all(feed, keys, now_ms)
  local moving = {
    keys.meta,
    keys.log,
    keys.early,
    keys.bodies,
    keys.claimed,
    keys.leases,
    keys.returned,
    keys.work,
    keys.expiry,
    keys.delayed,
    keys.parked,
    keys.subscribers,
    keys.guards,
  }
  move_keys(feed, moving, now_ms)
end

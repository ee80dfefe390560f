-- Removes messages from the log and from every index. An entry is any table with `position`, `id` and
-- either `bytes` or `body`.
local function remove_entries(feed, log, claimed, returned, expiry, work, parked, entries)
  if #entries == 0 then
    return
  end
  local positions, moved = {}, {}
  for at, entry in ipairs(entries) do
    positions[at] = entry.position
    feed.bytes = feed.bytes - (entry.bytes or #entry.body)
    if entry.id ~= entry.position then
      moved[#moved + 1] = entry.id
    end
  end
  redis.call('XDEL', log, unpack(positions))
  redis.call('ZREM', expiry, unpack(positions))
  if redis.call('EXISTS', work) == 1 then
    redis.call('ZREM', claimed, unpack(positions))
    redis.call('ZREM', returned, unpack(positions))
    redis.call('HDEL', work, unpack(positions))
  end
  if #moved > 0 then
    redis.call('HDEL', parked, unpack(moved))
  end
end

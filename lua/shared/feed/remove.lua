-- Removes messages from the log and from every index. An entry is any table with `place`, `id` and
-- either `bytes` or `body`.
local function remove_entries(feed, log, claimed, returned, expiry, work, parked, entries)
  if #entries == 0 then
    return
  end
  local places, moved = {}, {}
  for at, entry in ipairs(entries) do
    places[at] = entry.place
    feed.bytes = feed.bytes - (entry.bytes or #entry.body)
    local id = exact(entry.id)
    if id ~= entry.place then
      moved[#moved + 1] = id
    end
  end
  redis.call('XDEL', log, unpack(places))
  redis.call('ZREM', expiry, unpack(places))
  if redis.call('EXISTS', work) == 1 then
    redis.call('ZREM', claimed, unpack(places))
    redis.call('ZREM', returned, unpack(places))
    redis.call('HDEL', work, unpack(places))
  end
  if #moved > 0 then
    redis.call('HDEL', parked, unpack(moved))
  end
end

-- Writes a new claim over free entries, each of which has been claimed once more now.
local function open_claim(leases, claimed, returned, work, token, ends_at_ms, lease_ms, entries)
  local scored, known, places = {}, { lease_field(token), lease_ms }, {}
  for at, entry in ipairs(entries) do
    entry.claims = entry.claims + 1
    places[at] = entry.place
    scored[#scored + 1] = token
    scored[#scored + 1] = entry.place
    known[#known + 1] = entry.place
    known[#known + 1] = format_work(entry)
  end
  redis.call('ZADD', claimed, unpack(scored))
  -- On nothing, before there is a lease.
  redis.call('ZREM', returned, '')
  redis.call('HSET', work, unpack(known))
  redis.call('ZADD', leases, ends_at_ms, token)
  redis.call('ZREM', returned, unpack(places))
end

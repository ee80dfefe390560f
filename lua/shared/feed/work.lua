-- What is known of a message beyond its entry, once it has been claimed for the first time. Entries
-- never change, so the number of claims and a prolonged life stand in the hash `work`:
--   <place>        '<claims> <bytes> <expires_at_ms> <id>'
--   lease:<token>  milliseconds of the lease

local function parse_work(text)
  local claims, bytes, expires_at_ms, id = string.match(text, '^(%d+) (%d+) (%d+) (%d+)$')
  return {
    claims = tonumber(claims),
    bytes = tonumber(bytes),
    expires_at_ms = tonumber(expires_at_ms),
    id = tonumber(id),
  }
end

local function format_work(entry)
  return string.format('%d %d %.0f %.0f', entry.claims, entry.bytes, entry.expires_at_ms, entry.id)
end

-- Adds to each entry what `work` knows of it.
local function complete_entries(work, entries)
  if #entries == 0 or redis.call('EXISTS', work) == 0 then
    return
  end
  local places = {}
  for at, entry in ipairs(entries) do
    places[at] = entry.place
  end
  for at, known in ipairs(redis.call('HMGET', work, unpack(places))) do
    if known then
      local record = parse_work(known)
      entries[at].claims = record.claims
      entries[at].expires_at_ms = record.expires_at_ms
    end
  end
end

-- What a claim holds, as entries without bodies, oldest first.
local function work_of(claimed, work, token)
  local places = redis.call('ZRANGEBYSCORE', claimed, token, token)
  local entries = {}
  if #places > 0 then
    for at, known in ipairs(redis.call('HMGET', work, unpack(places))) do
      entries[at] = parse_work(known)
      entries[at].place = places[at]
    end
  end
  return entries
end

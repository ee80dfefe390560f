-- Data of a message in addition to its entry, from its first claim on. Entries never change, so the number of claims
-- and an extended TTL are stored in the hash `work`:
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

-- The messages of a claim, as entries without bodies, oldest first.
local function work_of(keys, token)
  local places = redis.call('ZRANGEBYSCORE', keys.claimed, token, token)
  local entries = {}
  if #places > 0 then
    for at, known in ipairs(redis.call('HMGET', keys.work, unpack(places))) do
      entries[at] = parse_work(known)
      entries[at].place = places[at]
    end
  end
  return entries
end

-- Stores dead messages in the dead-letter feed, under their old ids. `bodies`: where their bodies are.
local function store_dead(dead_keys, dead, bodies, entries, dead_ms)
  dead.last = math.max(dead.last, dead.now_us - 1)
  for _, entry in ipairs(entries) do
    if dead_ms > 0 then
      entry.expires_at_ms = dead.now_ms + dead_ms
    end
    entry.body = body_of(bodies, entry)
    store_late(dead_keys, dead, entry)
  end
end

-- Does so, removes as many expired dead letters, and closes holes.
local function add_dead_letters(dead_keys, dead, bodies, entries, dead_ms)
  if begin_feed(dead_keys.meta, dead) and dead.partitions > 0 then
    -- A subscriber may have proposed it, which ends after a minute.
    redis.pcall('HDEL', dead_keys.meta, 'proposed')
    redis.pcall('PERSIST', dead_keys.meta)
  end
  store_dead(dead_keys, dead, bodies, entries, dead_ms)
  if has_come(dead.due_at, dead.now_ms) then
    reap_expired(dead_keys, dead, 50 + #entries)
  end
  if dead.look or dead.moved ~= 0 then
    compact(dead_keys, dead, #entries)
  end
  if must_move(dead) or dead.kept_until > 0 then
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
    move_keys(dead, moving)
  end
  save_feed(dead_keys.meta, dead)
end

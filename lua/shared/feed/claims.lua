-- Claims. `claimed` maps a message's position to the token of its claim, `leases` a token to the time at which the
-- claim ends, `returned` holds messages that were claimed and are free again. A message after `front` has never been
-- claimed; one up to it is claimed, returned or removed.

local function lease_field(token)
  return 'lease:' .. token
end

local function is_live(keys, feed, token)
  local ends_at_ms = redis.call('ZSCORE', keys.leases, token)
  return ends_at_ms and tonumber(ends_at_ms) > feed.now_ms or false
end

local function places_held(claimed, token)
  return redis.call('ZRANGEBYSCORE', claimed, token, token)
end

-- Which messages live claims hold.

-- Which of the entries a live claim holds: place -> token.
local function find_claimed(keys, feed, entries)
  local held = {}
  if #entries == 0 or redis.call('EXISTS', keys.leases) == 0 then
    return held
  end
  local places = {}
  for at, entry in ipairs(entries) do
    places[at] = entry.place
  end
  local live = {}
  for at, token in ipairs(redis.call('ZMSCORE', keys.claimed, unpack(places))) do
    if token then
      if live[token] == nil then
        live[token] = is_live(keys, feed, token)
      end
      held[places[at]] = live[token] and token or nil
    end
  end
  return held
end

-- Reports which claim holds a message; nothing if none does.
local function report_claim(answer, position, token)
  if token then
    answer[#answer + 1] = position
    answer[#answer + 1] = tonumber(token)
  end
end

-- The entries of one claim, oldest first.
local function claimed_entries(keys, feed, token)
  local entries = {}
  for _, place in ipairs(places_held(keys.claimed, token)) do
    entries[#entries + 1] = entry_at(keys, feed, place)
  end
  complete_entries(keys.work, entries)
  return entries
end

-- Finds free messages, oldest first: returned ones come before those never claimed.

-- What a claim of so many messages finds, and may look at. `max_claims`: how often a message may be claimed; 0: always.
local function new_findings(limit, max_claims)
  local budget = budget_of(2 * limit + 200)
  return { free = {}, dead = {}, expired = {}, limit = limit, max_claims = max_claims, budget = budget }
end

-- Sorts an entry into claimable, dead and expired ones. Claimable ones are returned, and dead ones are moved; of
-- expired ones only the head is read.
local function sort_out(feed, found, entry)
  local kind, bytes = 'free', entry.bytes
  if has_expired(entry, feed.now_ms) then
    kind, bytes = 'expired', read_of(entry)
  elseif found.max_claims > 0 and entry.claims >= found.max_claims then
    kind = 'dead'
  end
  spend(found.budget, 1, bytes)
  local among = found[kind]
  among[#among + 1] = entry
end

local function is_looking(found)
  return #found.free < found.limit and is_left(found.budget)
end

local function find_returned(keys, feed, found)
  local from = 0
  while is_looking(found) do
    local chunk = math.min(found.limit - #found.free, at_once(found.budget))
    local places, entries = redis.call('ZRANGE', keys.returned, from, from + chunk - 1), {}
    for _, place in ipairs(places) do
      entries[#entries + 1] = entry_at(keys, feed, place)
    end
    complete_entries(keys.work, entries)
    for _, entry in ipairs(entries) do
      if not is_looking(found) then
        return
      end
      sort_out(feed, found, entry)
    end
    from = from + #places
    if #places < chunk then
      return
    end
  end
end

-- Moves `front` past the messages it looked at.
local function find_fresh(keys, feed, found)
  while is_looking(found) do
    local chunk = math.min(found.limit - #found.free, at_once(found.budget))
    local entries = entries_between(keys, feed, feed.front + 1, '+', chunk)
    for _, entry in ipairs(entries) do
      if not is_looking(found) then
        return
      end
      sort_out(feed, found, entry)
      feed.front = entry.position
    end
    if #entries < chunk then
      return
    end
  end
end

-- Writes a new claim, with the newest token, over free entries, and counts one more claim of each.
local function open_claim(keys, feed, lease_ms, entries)
  local token = exact(feed.token)
  local scored, known, places = {}, { lease_field(token), lease_ms }, {}
  for at, entry in ipairs(entries) do
    entry.claims = entry.claims + 1
    places[at] = entry.place
    scored[#scored + 1] = token
    scored[#scored + 1] = entry.place
    known[#known + 1] = entry.place
    known[#known + 1] = format_work(entry)
  end
  redis.call('ZADD', keys.claimed, unpack(scored))
  -- Tried on nothing, before there is a lease.
  redis.call('ZREM', keys.returned, '')
  redis.call('HSET', keys.work, unpack(known))
  redis.call('ZADD', keys.leases, feed.now_ms + lease_ms, token)
  redis.call('ZREM', keys.returned, unpack(places))
end

-- Messages live at least until their claim has ended and the grace period is over. Returns those whose TTL was
-- extended; the caller writes their records in `work`.
local function prolong_entries(keys, feed, entries, until_ms)
  local prolonged, scored = {}, {}
  for _, entry in ipairs(entries) do
    if entry.expires_at_ms ~= 0 and entry.expires_at_ms < until_ms then
      entry.expires_at_ms = until_ms
      prolonged[#prolonged + 1] = entry
      scored[#scored + 1] = until_ms
      scored[#scored + 1] = entry.place
    end
  end
  if #prolonged > 0 then
    redis.call('ZADD', keys.expiry, unpack(scored))
    if feed.lives_until ~= -1 then
      feed.lives_until = math.max(feed.lives_until, until_ms)
    end
  end
  return prolonged
end

-- Claims end: by their time, or because the holder releases them.

-- Makes messages free again, in their old places: all of them, or none if a right is missing. It removes first, so that
-- it works on a server out of memory.
local function give_back(keys, places)
  redis.call('HDEL', keys.work, '')
  redis.call('ZADD', keys.returned, 'XX', '0', '')
  redis.call('ZREM', keys.claimed, unpack(places))
  local scored = {}
  for _, place in ipairs(places) do
    scored[#scored + 1] = place
    scored[#scored + 1] = place
  end
  redis.call('ZADD', keys.returned, unpack(scored))
end

-- The lease is removed last: it leads to the remains of the claim.
local function forget_lease(keys, token)
  redis.call('HDEL', keys.work, lease_field(token))
  redis.call('ZREM', keys.leases, token)
end

-- Frees messages of claims whose lease has expired: at least one claim, then up to `budget` messages.
local function lapse_claims(keys, feed, budget)
  local freed = 0
  for _, token in ipairs(redis.call('ZRANGEBYSCORE', keys.leases, '-inf', feed.now_ms, 'LIMIT', '0', '100')) do
    local places = places_held(keys.claimed, token)
    if freed > 0 and freed + #places > budget then
      break
    end
    if #places > 0 then
      give_back(keys, places)
    end
    forget_lease(keys, token)
    freed = freed + #places
  end
  return freed
end

-- Why messages that a claim does not hold cannot be acked: for the answer, and as it is remembered.
local function refuse(keys, feed, others)
  local refused, texts = {}, {}
  for _, found in ipairs(others) do
    local reason = 'absent'
    if found.holder and is_live(keys, feed, found.holder) then
      reason = 'held'
    elseif found.parked or entry_at(keys, feed, found.place) then
      reason = 'unclaimed'
    end
    refused[#refused + 1] = tonumber(found.id)
    refused[#refused + 1] = reason
    texts[#texts + 1] = found.id .. ':' .. reason
  end
  return refused, table.concat(texts, ' ')
end

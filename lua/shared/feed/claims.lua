-- Claims. `claimed` leads from a message's position to the token of its claim, `leases` from a token to
-- the time at which the claim ends, `returned` holds messages that were claimed and are free again.
-- A message after `front` has never been claimed; one up to it is claimed, returned or gone.

local function lease_field(token)
  return 'lease:' .. token
end

local function is_live(leases, token, now_ms)
  local ends_at_ms = redis.call('ZSCORE', leases, token)
  return ends_at_ms and tonumber(ends_at_ms) > now_ms or false
end

local function places_held(claimed, token)
  return redis.call('ZRANGEBYSCORE', claimed, token, token)
end

-- Which messages live claims hold.

-- Which of the entries a live claim holds: place -> token.
local function find_claimed(claimed, leases, entries, now_ms)
  local held = {}
  if #entries == 0 or redis.call('EXISTS', leases) == 0 then
    return held
  end
  local places = {}
  for at, entry in ipairs(entries) do
    places[at] = entry.place
  end
  local live = {}
  for at, token in ipairs(redis.call('ZMSCORE', claimed, unpack(places))) do
    if token then
      if live[token] == nil then
        live[token] = is_live(leases, token, now_ms)
      end
      held[places[at]] = live[token] and token or nil
    end
  end
  return held
end

-- Tells which claim holds a message; nothing when none does.
local function tell_claim(answer, position, token)
  if token then
    answer[#answer + 1] = position
    answer[#answer + 1] = tonumber(token)
  end
end

-- The entries of one claim, oldest first.
local function claimed_entries(feed, keys, token)
  local entries = {}
  for _, place in ipairs(places_held(keys.claimed, token)) do
    entries[#entries + 1] = entry_at(feed, keys, place)
  end
  complete_entries(keys.work, entries)
  return entries
end

-- Finds free messages, oldest first: those that were given back stand before those never claimed.

-- What a claim of so many messages may look at.
local function new_findings(limit)
  return { free = {}, dead = {}, expired = {}, budget = budget_of(2 * limit + 200) }
end

-- Sorts an entry into what can be claimed, what has had its last chance, and what is over. What is claimed is told, and what is
-- dead is moved; of what is over only the head is read.
local function sort_out(found, entry, max_claims, now_ms)
  local kind, bytes = 'free', entry.bytes
  if has_expired(entry, now_ms) then
    kind, bytes = 'expired', read_of(entry)
  elseif max_claims > 0 and entry.claims >= max_claims then
    kind = 'dead'
  end
  spend(found.budget, 1, bytes)
  local among = found[kind]
  among[#among + 1] = entry
end

local function is_looking(found, limit)
  return #found.free < limit and is_left(found.budget)
end

local function find_returned(found, feed, keys, limit, max_claims, now_ms)
  local from = 0
  while is_looking(found, limit) do
    local chunk = math.min(limit - #found.free, at_once(found.budget))
    local places, entries = redis.call('ZRANGE', keys.returned, from, from + chunk - 1), {}
    for _, place in ipairs(places) do
      entries[#entries + 1] = entry_at(feed, keys, place)
    end
    complete_entries(keys.work, entries)
    for _, entry in ipairs(entries) do
      if not is_looking(found, limit) then
        return
      end
      sort_out(found, entry, max_claims, now_ms)
    end
    from = from + #places
    if #places < chunk then
      return
    end
  end
end

-- Moves `front` over what it looked at.
local function find_fresh(found, feed, keys, limit, max_claims, now_ms)
  while is_looking(found, limit) do
    local chunk = math.min(limit - #found.free, at_once(found.budget))
    local entries = entries_between(feed, keys, feed.front + 1, '+', chunk)
    for _, entry in ipairs(entries) do
      if not is_looking(found, limit) then
        return
      end
      sort_out(found, entry, max_claims, now_ms)
      feed.front = entry.position
    end
    if #entries < chunk then
      return
    end
  end
end

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

-- Messages live at least until their claim has ended and the grace is over. Answers those whose life
-- became longer; their records in `work` are the caller's to write.
local function prolong_entries(feed, expiry, entries, until_ms)
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
    redis.call('ZADD', expiry, unpack(scored))
    if feed.lives_until ~= -1 then
      feed.lives_until = math.max(feed.lives_until, until_ms)
    end
  end
  return prolonged
end

-- Claims end: by their time, or because the holder gives them back.

-- Makes messages free again, in their old places: all of them, or none where a right is missing. It frees first, also of a server out of
-- memory.
local function give_back(claimed, returned, work, places)
  redis.call('HDEL', work, '')
  redis.call('ZADD', returned, 'XX', '0', '')
  redis.call('ZREM', claimed, unpack(places))
  local scored = {}
  for _, place in ipairs(places) do
    scored[#scored + 1] = place
    scored[#scored + 1] = place
  end
  redis.call('ZADD', returned, unpack(scored))
end

-- The lease goes last: it leads to what is left of the claim.
local function forget_lease(leases, work, token)
  redis.call('HDEL', work, lease_field(token))
  redis.call('ZREM', leases, token)
end

-- Frees what claims held whose lease ran out: at least one claim, then up to `budget` messages.
local function lapse_claims(leases, claimed, returned, work, now_ms, budget)
  local freed = 0
  for _, token in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now_ms, 'LIMIT', '0', '100')) do
    local places = places_held(claimed, token)
    if freed > 0 and freed + #places > budget then
      break
    end
    if #places > 0 then
      give_back(claimed, returned, work, places)
    end
    forget_lease(leases, work, token)
    freed = freed + #places
  end
  return freed
end

-- Why messages that a claim does not hold cannot be acked: as an answer tells it, and as it is remembered.
local function refuse(feed, keys, others, now_ms)
  local refused, told = {}, {}
  for _, found in ipairs(others) do
    local reason = 'absent'
    if found.holder and is_live(keys.leases, found.holder, now_ms) then
      reason = 'held'
    elseif found.parked or entry_at(feed, keys, found.place) then
      reason = 'unclaimed'
    end
    refused[#refused + 1] = tonumber(found.id)
    refused[#refused + 1] = reason
    told[#told + 1] = found.id .. ':' .. reason
  end
  return refused, table.concat(told, ' ')
end

-- Finds free messages, oldest first: those that were given back stand before those never claimed.

-- Sorts an entry into what can be claimed, what has had its last chance, and what is over.
local function sort_out(found, entry, max_claims, now_ms)
  found.count = found.count + 1
  found.bytes = found.bytes + #entry.body
  local kind = 'free'
  if has_expired(entry, now_ms) then
    kind = 'expired'
  elseif max_claims > 0 and entry.claims >= max_claims then
    kind = 'dead'
  end
  table.insert(found[kind], entry)
end

-- Whether to look on: bounded by what is wanted, by how much was looked at, and by bytes.
local function is_looking(found, limit)
  return #found.free < limit and found.count < 2 * limit + 200 and found.bytes < ENOUGH_BYTES
end

local function find_returned(found, log, returned, work, limit, max_claims, now_ms)
  local from = 0
  while is_looking(found, limit) do
    local chunk = next_chunk(limit - #found.free, found.count, found.bytes)
    local entries = {}
    for at, place in ipairs(redis.call('ZRANGE', returned, from, from + chunk - 1)) do
      entries[at] = entry_at(log, place)
    end
    complete_entries(work, entries)
    for _, entry in ipairs(entries) do
      sort_out(found, entry, max_claims, now_ms)
    end
    from = from + #entries
    if #entries < chunk then
      return
    end
  end
end

-- Moves `front` over what it looked at.
local function find_fresh(found, feed, log, limit, max_claims, now_ms)
  while is_looking(found, limit) do
    local chunk = next_chunk(limit - #found.free, found.count, found.bytes)
    local entries = entries_between(log, exact(feed.front + 1), '+', chunk)
    for _, entry in ipairs(entries) do
      sort_out(found, entry, max_claims, now_ms)
      feed.front = entry.position
    end
    if #entries < chunk then
      return
    end
  end
end

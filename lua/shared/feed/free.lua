-- Finds free messages, oldest first: those that were given back stand before those never claimed.

-- Sorts an entry into what can be claimed, what has had its last chance, and what is over.
local function sort_out(found, entry, max_claims, now_ms)
  local kind = 'free'
  if has_expired(entry, now_ms) then
    kind = 'expired'
  elseif max_claims > 0 and entry.claims >= max_claims then
    kind = 'dead'
  end
  table.insert(found[kind], entry)
end

local function find_returned(found, log, returned, work, limit, max_claims, now_ms)
  local from = 0
  while #found.free < limit and from < limit + 200 do
    local wanted = limit - #found.free
    local entries = {}
    for at, place in ipairs(redis.call('ZRANGE', returned, from, from + wanted - 1)) do
      entries[at] = entry_at(log, place)
    end
    complete_entries(work, entries)
    for _, entry in ipairs(entries) do
      sort_out(found, entry, max_claims, now_ms)
    end
    from = from + #entries
    if #entries < wanted then
      return
    end
  end
end

-- Moves `front` over what it looked at.
local function find_fresh(found, feed, log, limit, max_claims, now_ms)
  local looked_at = 0
  while #found.free < limit and looked_at < limit + 200 do
    local wanted = limit - #found.free
    local entries = entries_between(log, exact(feed.front + 1), '+', wanted)
    for _, entry in ipairs(entries) do
      sort_out(found, entry, max_claims, now_ms)
      feed.front = entry.position
    end
    looked_at = looked_at + #entries
    if #entries < wanted then
      return
    end
  end
end

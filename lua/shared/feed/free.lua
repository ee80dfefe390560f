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

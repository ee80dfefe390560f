-- Retention: what the log holds beyond `keep` goes, oldest first, up to the smallest marker of a
-- protected subscriber. Readers behind what went are told of the gap.

local function is_surplus(surplus, entry)
  return surplus.count > 0 or surplus.bytes > 0 or entry.position <= surplus.before
end

-- Of these, the oldest messages, those that go. Moves `trimmed` over them, and counts them off.
local function pick_surplus(feed, surplus, entries, guard, now_ms)
  local going = {}
  for _, entry in ipairs(entries) do
    if entry.position > guard or not is_surplus(surplus, entry) then
      break
    end
    going[#going + 1] = entry
    surplus.count = surplus.count - 1
    surplus.bytes = surplus.bytes - entry.bytes
    if not has_expired(entry, now_ms) then
      feed.trimmed = entry.position
    end
  end
  return going
end

-- Removes surplus messages, oldest first, until the budget is used up, or no more than so many bytes are too many.
local function remove_surplus(feed, keys, surplus, upto, guard, now_ms, budget, most_bytes)
  repeat
    local wanted = at_once(budget)
    local entries = entries_between(feed, keys, 1, upto, wanted)
    -- A claim may have prolonged their lives.
    complete_entries(keys.work, entries)
    local going = pick_surplus(feed, surplus, entries, guard, now_ms)
    for _, entry in ipairs(going) do
      spend(budget, 1, read_of(entry))
    end
    remove_entries(feed, keys, going)
  until #going < wanted or not is_left(budget) or surplus.bytes <= most_bytes
end

-- Removes at most `most` messages; of bytes that are too many as many as the call has added, `added_bytes`, or what 2,000 more have.
local function apply_retention(feed, keys, keep, now_us, most, added_bytes)
  local surplus = {
    count = keep.count == 0 and 0 or log_length(feed, keys) - keep.count,
    bytes = keep.bytes == 0 and 0 or feed.bytes - keep.bytes,
    before = keep.ms == 0 and 0 or now_us - keep.ms * 1000,
  }
  local is_too_much = surplus.bytes > 0 or surplus.count > 0
  if not is_too_much and surplus.before == 0 then
    return
  elseif surplus.bytes <= 0 and surplus.count > 0 and surplus.before == 0 then
    most = math.min(most, surplus.count)
  end
  -- Nothing behind it goes, and so nothing is read there.
  local guard = tonumber(redis.call('ZRANGE', keys.guards, '0', '0', 'WITHSCORES')[2] or math.huge)
  local last = is_too_much and guard or math.min(surplus.before, guard)
  local upto = last < math.huge and exact(last) or '+'
  local now_ms, most_bytes = math.floor(now_us / 1000), surplus.bytes - added_bytes
  local budget = budget_of(most, added_bytes)
  remove_surplus(feed, keys, surplus, upto, guard, now_ms, budget, -math.huge)
  if not is_left(budget) and surplus.bytes > math.max(0, most_bytes) then
    remove_surplus(feed, keys, surplus, upto, guard, now_ms, budget_of(2000, added_bytes), most_bytes)
  end
end

-- Removes expired messages; see shared/feed/retention for how they are found. Call this from `due_at` on.

-- Removes members of the lane that have expired; moves `lane_swept` past the messages it looked at.
local function sweep_lane(keys, feed, budget)
  local upto = math.min((feed.now_ms - feed.lane_ms) * 1000 + 999, feed.lane_last)
  while feed.lane_swept < upto and is_left(budget) do
    local most, expired = at_once(budget), {}
    local entries = entries_between(keys, feed, feed.lane_swept + 1, exact(upto), most)
    for _, entry in ipairs(entries) do
      spend(budget, 1, read_of(entry))
      local is_member = entry.expires_at_ms == math.floor(entry.position / 1000) + feed.lane_ms
      if is_member and not redis.call('ZSCORE', keys.expiry, entry.place) then
        expired[#expired + 1] = entry
      end
    end
    feed.lane_swept = #entries < most and upto or entries[#entries].position
    remove_entries(keys, feed, expired)
  end
end

-- Removes entries whose time in the index has come.
local function sweep_index(keys, feed, budget)
  repeat
    local most, expired = at_once(budget), {}
    local places = redis.call('ZRANGEBYSCORE', keys.expiry, '-inf', feed.now_ms, 'LIMIT', '0', most)
    for _, place in ipairs(places) do
      local entry = entry_at(keys, feed, place)
      if entry then
        spend(budget, 1, read_of(entry))
        expired[#expired + 1] = entry
      else
        spend(budget, 1, 0)
        redis.call('ZREM', keys.expiry, place)
      end
    end
    remove_entries(keys, feed, expired)
  until #places < most or not is_left(budget)
end

-- When to look again: at the next expiry, or at that of a message in between that is not in the lane.
local function next_due(keys, feed)
  local soonest = redis.call('ZRANGE', keys.expiry, '0', '0', 'WITHSCORES')
  local due_at = tonumber(soonest[2] or 0)
  local next_entry = entries_between(keys, feed, feed.lane_swept + 1, exact(feed.lane_last), 1)[1]
  if next_entry then
    local lane_due = math.floor(next_entry.position / 1000) + feed.lane_ms
    due_at = due_at == 0 and lane_due or math.min(due_at, lane_due)
  end
  return due_at
end

-- Removes at most 2 x `most` expired messages, of as many bytes as one call adds.
local function reap_expired(keys, feed, most)
  -- The commands after a removal, each once on nothing.
  redis.call('ZRANGEBYSCORE', keys.expiry, '+inf', '-inf')
  redis.call('ZRANGE', keys.expiry, '0', '0')
  sweep_lane(keys, feed, budget_of(most))
  sweep_index(keys, feed, budget_of(most))
  feed.due_at = next_due(keys, feed)
  -- They are removed even if the call fails later.
  save_feed(keys.meta, feed)
end

-- Due work before so many messages are added: delayed ones become visible, expired ones are removed. If messages may be
-- removed, also by retention (`is_kept`), a full server rejects the call here. Returns how many became visible.
local function do_due(keys, feed, is_kept, count)
  local shows, reaps = has_come(feed.visible_at_us, feed.now_us), has_come(feed.due_at, feed.now_ms)
  if is_kept or shows or reaps then
    refuse_when_full(keys.meta, feed)
    try_retention(keys)
  end
  local shown = shows and show_due(keys, feed, 100 + count) or 0
  if reaps then
    reap_expired(keys, feed, 50 + count)
  end
  return shown
end

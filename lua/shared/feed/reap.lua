-- What has expired goes; see shared/feed/retention for how it is found. To be asked for from `due_at` on.

-- Removes members of the lane that have expired; moves `lane_swept` over what was looked at.
local function sweep_lane(feed, keys, now_ms, budget)
  local upto = math.min((now_ms - feed.lane_ms) * 1000 + 999, feed.lane_last)
  while feed.lane_swept < upto and is_left(budget) do
    local most, expired = at_once(budget), {}
    local entries = entries_between(feed, keys, feed.lane_swept + 1, exact(upto), most)
    for _, entry in ipairs(entries) do
      spend(budget, 1, read_of(entry))
      local is_member = entry.expires_at_ms == math.floor(entry.position / 1000) + feed.lane_ms
      if is_member and not redis.call('ZSCORE', keys.expiry, entry.place) then
        expired[#expired + 1] = entry
      end
    end
    feed.lane_swept = #entries < most and upto or entries[#entries].position
    remove_entries(feed, keys, expired)
  end
end

-- Removes entries whose time in the index has come.
local function sweep_index(feed, keys, now_ms, budget)
  repeat
    local most, expired = at_once(budget), {}
    local places = redis.call('ZRANGEBYSCORE', keys.expiry, '-inf', now_ms, 'LIMIT', '0', most)
    for _, place in ipairs(places) do
      local entry = entry_at(feed, keys, place)
      if entry then
        spend(budget, 1, read_of(entry))
        expired[#expired + 1] = entry
      else
        spend(budget, 1, 0)
        redis.call('ZREM', keys.expiry, place)
      end
    end
    remove_entries(feed, keys, expired)
  until #places < most or not is_left(budget)
end

-- When to look again: at the next expiry, or at that of a message in between that is not in the lane.
local function next_due(feed, keys)
  local soonest = redis.call('ZRANGE', keys.expiry, '0', '0', 'WITHSCORES')
  local due_at = tonumber(soonest[2] or 0)
  local next_entry = entries_between(feed, keys, feed.lane_swept + 1, exact(feed.lane_last), 1)[1]
  if next_entry then
    local lane_due = math.floor(next_entry.position / 1000) + feed.lane_ms
    due_at = due_at == 0 and lane_due or math.min(due_at, lane_due)
  end
  return due_at
end

-- Removes at most 2 x `most` expired messages, of as many bytes as one call adds.
local function reap_expired(feed, keys, now_ms, most)
  -- The commands that follow when some have gone, each once on nothing.
  redis.call('ZRANGEBYSCORE', keys.expiry, '+inf', '-inf')
  redis.call('ZRANGE', keys.expiry, '0', '0')
  sweep_lane(feed, keys, now_ms, budget_of(most))
  sweep_index(feed, keys, now_ms, budget_of(most))
  feed.due_at = next_due(feed, keys)
  -- They are gone whatever becomes of the call.
  save_feed(keys.meta, feed)
end

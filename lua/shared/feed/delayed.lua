-- A delayed message is stored outside the log and gets its position when it becomes visible, so no reader can have
-- passed it. Its id, assigned at once, stays valid: `parked` maps the id to the message ('<ttl_ms> <origin>\n<body>',
-- or '<ttl_ms> <origin> <bytes>\n' if its body is large), later to its position ('@<position>').

-- The parked message as an entry without a position; its place is empty, where no message ever is.
local function parse_parked(id, text)
  local ttl_ms, origin, size, start = string.match(text, '^(%d+) (%S*) ?(%d*)\n()')
  local life = tonumber(ttl_ms)
  return {
    id = id,
    place = '',
    position = 0,
    origin = origin,
    bytes = tonumber(size) or #text - start + 1,
    body = size == '' and string.sub(text, start) or nil,
    claims = 0,
    expires_at_ms = life == 0 and 0 or math.floor(id / 1000) + life,
  }
end

-- Parks a delayed message. `head`: '<ttl_ms> <origin>'.
local function park_message(keys, feed, id, visible_at_us, head, body)
  if is_large(#body) then
    redis.call('HSET', keys.bodies, exact(id), body)
    stand_apart(keys.meta, feed)
    redis.call('HSET', keys.parked, exact(id), head .. ' ' .. #body .. '\n')
  else
    redis.call('HSET', keys.parked, exact(id), head .. '\n' .. body)
  end
  redis.call('ZADD', keys.delayed, exact(visible_at_us), exact(id))
end

-- Counts a message that was just parked into the state of the feed.
local function note_parked(feed, id, visible_at_us, ttl_ms)
  if feed.visible_at_us == 0 or visible_at_us < feed.visible_at_us then
    feed.visible_at_us = visible_at_us
  end
  if ttl_ms == 0 then
    feed.lives_until = -1
  elseif feed.lives_until ~= -1 then
    feed.lives_until = math.max(feed.lives_until, math.floor(id / 1000) + ttl_ms)
  end
end

-- Removes messages that are still delayed.
local function unpark(keys, ids, has_large)
  redis.call('ZREM', keys.delayed, unpack(ids))
  redis.call('HDEL', keys.parked, unpack(ids))
  if has_large then
    redis.call('HDEL', keys.bodies, unpack(ids))
  end
end

-- Whether something is due that no call has done yet.
local function is_due(leases, feed)
  return has_come(feed.due_at, feed.now_ms)
    or has_come(feed.visible_at_us, feed.now_us)
    or redis.call('ZCOUNT', leases, '-inf', feed.now_ms) > 0
end

-- Delayed messages become visible. Call this from `visible_at_us` on.

-- The commands after a message has become visible, each once on nothing. The first one removes: after it a server out
-- of memory accepts the others.
local function try_showing(keys, feed)
  redis.call('HDEL', keys.parked, '')
  redis.call('HSET', keys.meta, 'codec', feed.codec)
  redis.call('ZREM', keys.delayed, '')
  redis.call('ZADD', keys.expiry, 'XX', '0', '')
  redis.call('ZRANGE', keys.delayed, '0', '0')
end

-- Gives at most `most` due messages their positions. Returns how many became visible.
local function show_due(keys, feed, most)
  local shown, budget = 0, budget_of(most)
  try_showing(keys, feed)
  feed.last = math.max(feed.last, feed.now_us - 1)
  local ids = redis.call('ZRANGEBYSCORE', keys.delayed, '-inf', exact(feed.now_us), 'LIMIT', '0', most)
  for _, id in ipairs(ids) do
    if not is_left(budget) then
      break
    end
    local entry = parse_parked(tonumber(id), redis.call('HGET', keys.parked, id))
    spend(budget, 1, read_of(entry))
    if has_expired(entry, feed.now_ms) then
      unpark(keys, { id }, is_large(entry.bytes))
    else
      store_late(keys, feed, entry)
      shown = shown + 1
      redis.call('ZREM', keys.delayed, id)
    end
  end
  feed.visible_at_us = tonumber(redis.call('ZRANGE', keys.delayed, '0', '0', 'WITHSCORES')[2] or 0)
  -- They are visible even if the call fails later.
  save_feed(keys.meta, feed)
  return shown
end

-- Adds delayed messages to the page (see shared/feed/reading), soonest first, from the cursor's place among them, until
-- the bytes that are `left` are used up. Returns the suffix of the cursor for the next page, and whether there is more.
local function read_delayed(keys, feed, start, page)
  local from = 0
  if start.id then
    local rank = redis.call('ZRANK', keys.delayed, exact(start.id))
    from = rank and rank + 1 or redis.call('ZCOUNT', keys.delayed, '-inf', exact(start.visible_at_us))
  end
  local suffix, count, limit = start.suffix, redis.call('ZCARD', keys.delayed), page.limit
  if limit == 0 then
    return suffix, count > from
  end
  local budget = { elements = limit, bytes = page.left }
  local found = redis.call('ZRANGE', keys.delayed, from, from + limit - 1, 'WITHSCORES')
  for at = 1, #found, 2 do
    if not is_left(budget) then
      return suffix, true
    end
    local entry = parse_parked(tonumber(found[at]), redis.call('HGET', keys.parked, found[at]))
    local own = page.except_origin ~= '' and entry.origin == page.except_origin
    if own or has_expired(entry, feed.now_ms) then
      spend(budget, 1, read_of(entry))
    else
      spend(budget, 1, entry.bytes)
      report_message(page.messages, entry, keys.bodies)
    end
    suffix = string.format('-%.0f-%s', found[at + 1], found[at])
  end
  return suffix, count > from + limit
end

-- The time of the next end of a claim or of a delay, as milliseconds from now; 0 if there is none.
local function recheck_after(leases, feed)
  local lapse_at_ms = tonumber(redis.call('ZRANGE', leases, '0', '0', 'WITHSCORES')[2] or 0)
  local visible_at_ms = math.ceil(feed.visible_at_us / 1000)
  local next_ms = lapse_at_ms
  if next_ms == 0 or (visible_at_ms > 0 and visible_at_ms < next_ms) then
    next_ms = visible_at_ms
  end
  return next_ms == 0 and 0 or math.max(1, next_ms - feed.now_ms)
end

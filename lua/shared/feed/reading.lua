-- A cursor is '<epoch>-<position>', both server microseconds: the reader has passed every message up to that position.
-- A cursor among delayed messages adds '-<visible_at_us>-<id>'.

local function format_cursor(epoch, position)
  return string.format('%.0f-%.0f', epoch, position)
end

-- nil if the text is no cursor.
local function parse_cursor(text)
  local epoch, position, rest = string.match(text, '^(%d+)%-(%d+)(.*)$')
  local visible_at_us, id = string.match(rest or '', '^%-(%d+)%-(%d+)$')
  if not epoch or (rest ~= '' and not id) or #text > 70 then
    return nil
  end
  return {
    epoch = tonumber(epoch),
    position = tonumber(position),
    visible_at_us = tonumber(visible_at_us),
    id = tonumber(id),
    suffix = rest,
  }
end

-- Where a reader begins, and what to report to it; nil if `after` is not a cursor.
local function where_to_start(feed, after)
  if after == '' then
    return { position = 0, suffix = '' }
  elseif after == 'end' then
    return { position = feed.last, suffix = '' }
  end
  local start = parse_cursor(after)
  if not start then
    return nil
  end
  start.reset, start.gap = false, false
  if start.epoch ~= feed.epoch then
    -- Epoch 0: the reader began before the feed did, and has lost only messages that were trimmed.
    start.reset = start.epoch ~= 0
    start.gap = start.epoch == 0 and feed.trimmed > 0
    start.position, start.suffix, start.id = 0, '', nil
  elseif start.position > feed.last then
    start.reset = true
    start.position, start.suffix, start.id = feed.last, '', nil
  else
    start.gap = start.position < feed.trimmed
  end
  return start
end

-- From ids to places: a message that was delayed has a place that differs from its id.

-- For each id, duplicates included, one table with `id`, how many ids were listed up to it (`at`), and either its
-- `place` (whether or not it is occupied) or, for a message that is still delayed, its `parked` text.
local function look_up(parked, ids, ids_at)
  local asked, ats, found, seen = {}, {}, {}, {}
  for at = ids_at, #ids, 1 do
    if not seen[ids[at]] then
      asked[#asked + 1] = ids[at]
      seen[ids[at]] = true
    end
    ats[#asked] = at - ids_at + 1
  end
  if #asked == 0 then
    return found
  end
  for at, known in ipairs(redis.call('HMGET', parked, unpack(asked))) do
    local moved_to = string.match(known or '', '^@(%d+)$')
    if known and not moved_to then
      found[at] = { id = asked[at], at = ats[at], parked = known }
    else
      found[at] = { id = asked[at], at = ats[at], place = moved_to or asked[at] }
    end
  end
  return found
end

-- The view of a reader.

-- The changes by claims, for each of the entries: a table with changed `claims` and `expires_at_ms`, and the token of a
-- live claim. Nothing for a feed without claims so far.
local function find_changes(keys, feed, raws)
  local changes, held = {}, {}
  if feed.token > 0 then
    for at = 1, #raws do
      changes[at] = { place = string.sub(raws[at][1], 1, -3) }
    end
    complete_entries(keys.work, changes)
    held = find_claimed(keys, feed, changes)
  end
  return changes, held
end

-- Adds visible messages after `position` to the page, until the bytes left are used up: a budget, but in plain numbers,
-- because pages are read often. The page holds the request (`limit`, `left`, `except_origin`, `hides_claimed`) and the
-- result (`messages`, `claims`). Returns the position it reached, how many messages it added, whether there may be
-- more, and the bytes left.
local function read_log(keys, feed, page, position)
  local limit, left, except_origin, hides_claimed =
    page.limit, page.left, page.except_origin, page.hides_claimed
  local messages, now_ms = page.messages, feed.now_ms
  local shown, looked_at = 0, 0
  while shown < limit and looked_at < limit + 1000 and left > 0 do
    -- No more than one call may read: the log has at most INLINE_BYTES of each.
    local chunk = math.min(200, limit - shown + looked_at)
    local raws = raws_between(keys, feed, position + 1, '+', chunk)
    local changes, held = find_changes(keys, feed, raws)
    for at = 1, #raws do
      if shown == limit or left <= 0 then
        return position, shown, true, left
      end
      local place, here, id, expires_at_ms, origin, body = read_entry(raws[at])
      local change = changes[at]
      expires_at_ms = change and change.expires_at_ms or expires_at_ms
      position = here
      local hidden = hides_claimed and held[place] or except_origin ~= '' and origin == except_origin
      if not hidden and (expires_at_ms == 0 or expires_at_ms > now_ms) then
        body = body or redis.call('HGET', keys.bodies, exact(id)) or ''
        local n = shown * 5
        messages[n + 1] = here
        messages[n + 2] = id
        messages[n + 3] = expires_at_ms
        messages[n + 4] = change and change.claims or 0
        messages[n + 5] = body
        if held[place] then
          report_claim(page.claims, here, held[place])
        end
        shown = shown + 1
      end
      -- Nothing was read of a hidden large body.
      left = left - (body and #body or 0)
    end
    looked_at = looked_at + #raws
    if #raws < chunk then
      return math.max(position, feed.last), shown, false, left
    end
  end
  return position, shown, position < feed.last, left
end

-- Adds the fields of a message to an answer, in the order of `messages:[…]` in every head.
local function report_message(answer, entry, bodies)
  local n = #answer
  answer[n + 1] = entry.position
  answer[n + 2] = entry.id
  answer[n + 3] = entry.expires_at_ms
  answer[n + 4] = entry.claims
  answer[n + 5] = body_of(bodies, entry)
end

local function report_messages(entries, bodies)
  local answer = {}
  for _, entry in ipairs(entries) do
    report_message(answer, entry, bodies)
  end
  return answer
end

-- Sets the expiry that `must_move` has computed on all keys of a feed.
local function move_all(keys, feed)
  local moving = {
    keys.meta,
    keys.log,
    keys.early,
    keys.bodies,
    keys.claimed,
    keys.leases,
    keys.returned,
    keys.work,
    keys.expiry,
    keys.delayed,
    keys.parked,
    keys.subscribers,
    keys.guards,
  }
  move_keys(feed, moving)
end

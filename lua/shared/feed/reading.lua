-- What a reader gets to see.

-- What claims have changed, for each of the entries: a table with `claims` and `expires_at_ms` where they
-- did, and the token of a live claim. Nothing on a feed where nobody has claimed yet.
local function find_changes(feed, claimed, leases, work, raws, now_ms)
  local changes, held = {}, {}
  if feed.token > 0 then
    for at = 1, #raws do
      changes[at] = { place = string.sub(raws[at][1], 1, -3) }
    end
    complete_entries(work, changes)
    held = find_claimed(claimed, leases, changes, now_ms)
  end
  return changes, held
end

-- Adds visible messages after `position` to the page. Answers the position it came to, how many
-- messages it added, and whether there may be more.
local function read_log(feed, log, claimed, leases, work, position, limit, hide, now_ms, page)
  local shown, looked_at, bytes = 0, 0, 0
  while shown < limit and looked_at < limit + 1000 and bytes < ENOUGH_BYTES do
    local chunk = next_chunk(math.min(200, limit - shown + looked_at), looked_at, bytes)
    local raws = redis.call('XRANGE', log, exact(position + 1), '+', 'COUNT', chunk)
    local changes, held = find_changes(feed, claimed, leases, work, raws, now_ms)
    for at = 1, #raws do
      if shown == limit then
        return position, shown, true
      end
      local place, here, id, expires_at_ms, origin, body = read_entry(raws[at])
      local change = changes[at]
      expires_at_ms = change and change.expires_at_ms or expires_at_ms
      position, bytes = here, bytes + #body
      local hidden = hide.claimed and held[place] or hide.origin ~= '' and origin == hide.origin
      if not hidden and (expires_at_ms == 0 or expires_at_ms > now_ms) then
        tell(page.messages, shown * 5, here, id, expires_at_ms, change and change.claims or 0, body)
        if held[place] then
          tell_claim(page.claims, here, held[place])
        end
        shown = shown + 1
      end
    end
    looked_at = looked_at + #raws
    if #raws < chunk then
      return math.max(position, feed.last), shown, false
    end
  end
  return position, shown, position < feed.last
end

-- Adds delayed messages, soonest first, from where the marker stopped among them. Answers the suffix
-- of the marker for the next page, and whether there is more.
local function read_delayed(delayed, parked, start, limit, hide, now_ms, page)
  local from = 0
  if start.id then
    local rank = redis.call('ZRANK', delayed, exact(start.id))
    from = rank and rank + 1 or redis.call('ZCOUNT', delayed, '-inf', exact(start.visible_at_us))
  end
  local suffix = start.suffix
  local more = redis.call('ZCARD', delayed) > from + limit
  if limit == 0 then
    return suffix, more
  end
  local found = redis.call('ZRANGE', delayed, from, from + limit - 1, 'WITHSCORES')
  for at = 1, #found, 2 do
    local entry = parse_parked(tonumber(found[at]), redis.call('HGET', parked, found[at]))
    local own = hide.origin ~= '' and entry.origin == hide.origin
    if not own and not has_expired(entry, now_ms) then
      tell_message(page.messages, entry)
    end
    suffix = string.format('-%.0f-%s', found[at + 1], found[at])
  end
  return suffix, more
end

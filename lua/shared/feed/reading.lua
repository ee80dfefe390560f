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

-- Adds visible messages after `position` to the page, and no more behind those that use up the bytes that are `left`: a budget,
-- but in numbers of its own, for pages are read often. Answers the position it came to, how many messages it added, whether
-- there may be more, and the bytes that are left.
local function read_log(
  feed,
  log,
  early,
  bodies,
  claimed,
  leases,
  work,
  position,
  limit,
  left,
  hide,
  now_ms,
  page
)
  local shown, looked_at = 0, 0
  while shown < limit and looked_at < limit + 1000 and left > 0 do
    -- No more than one call may read: the log has INLINE_BYTES of each at most.
    local chunk = math.min(200, limit - shown + looked_at)
    local raws = raws_between(feed, log, early, position + 1, '+', chunk)
    local changes, held = find_changes(feed, claimed, leases, work, raws, now_ms)
    for at = 1, #raws do
      if shown == limit or left <= 0 then
        return position, shown, true, left
      end
      local place, here, id, expires_at_ms, origin, body = read_entry(raws[at])
      local change = changes[at]
      expires_at_ms = change and change.expires_at_ms or expires_at_ms
      position = here
      local hidden = hide.claimed and held[place] or hide.origin ~= '' and origin == hide.origin
      if not hidden and (expires_at_ms == 0 or expires_at_ms > now_ms) then
        body = body or redis.call('HGET', bodies, exact(id)) or ''
        tell(page.messages, shown * 5, here, id, expires_at_ms, change and change.claims or 0, body)
        if held[place] then
          tell_claim(page.claims, here, held[place])
        end
        shown = shown + 1
      end
      -- Of a large one that is hidden nothing was read.
      left = left - (body and #body or 0)
    end
    looked_at = looked_at + #raws
    if #raws < chunk then
      return math.max(position, feed.last), shown, false, left
    end
  end
  return position, shown, position < feed.last, left
end

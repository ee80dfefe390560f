-- What a reader gets to see.

local function is_hidden(hide, held, entry, now_ms)
  local own = hide.origin ~= '' and entry.origin == hide.origin
  return own or (hide.claimed and held[entry.place]) or has_expired(entry, now_ms)
end

-- Adds visible messages after `position` to the page. Answers the position it came to, how many
-- messages it added, and whether there may be more.
local function read_log(feed, log, claimed, leases, work, position, limit, hide, now_ms, page)
  local shown, looked_at, bytes = 0, 0, 0
  while shown < limit and looked_at < limit + 1000 and bytes < ENOUGH_BYTES do
    local chunk = next_chunk(math.min(200, limit - shown + looked_at), looked_at, bytes)
    local entries = entries_between(log, exact(position + 1), '+', chunk)
    complete_entries(work, entries)
    local held = find_claimed(claimed, leases, entries, now_ms)
    for _, entry in ipairs(entries) do
      if shown == limit then
        return position, shown, true
      end
      position = entry.position
      bytes = bytes + #entry.body
      if not is_hidden(hide, held, entry, now_ms) then
        tell_message(page.messages, entry)
        tell_claim(page.claims, entry, held)
        shown = shown + 1
      end
    end
    looked_at = looked_at + #entries
    if #entries < chunk then
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
    if not is_hidden(hide, {}, entry, now_ms) then
      tell_message(page.messages, entry)
    end
    suffix = string.format('-%.0f-%s', found[at + 1], found[at])
  end
  return suffix, more
end

-- Retention: what the log holds beyond `keep` goes, oldest first, up to the smallest marker of a
-- protected subscriber. Readers behind what went are told of the gap.

local function is_surplus(surplus, entry)
  return surplus.count > 0 or surplus.bytes > 0 or entry.position <= surplus.before
end

-- Removes at most `budget` messages.
local function apply_retention(
  feed,
  log,
  claimed,
  returned,
  expiry,
  work,
  parked,
  guards,
  keep,
  now_us,
  budget
)
  local surplus = {
    count = keep.count == 0 and 0 or redis.call('XLEN', log) - keep.count,
    bytes = keep.bytes == 0 and 0 or feed.bytes - keep.bytes,
    before = keep.ms == 0 and 0 or now_us - keep.ms * 1000,
  }
  local upto = exact(surplus.before)
  local wanted = budget
  if surplus.bytes > 0 then
    upto = '+'
  elseif surplus.count > 0 then
    upto = '+'
    wanted = surplus.before > 0 and budget or math.min(budget, surplus.count)
  end
  if upto == '0' then
    return
  end
  local guard = tonumber(redis.call('ZRANGE', guards, '0', '0', 'WITHSCORES')[2] or math.huge)
  local chunk = next_chunk(wanted, redis.call('XLEN', log), feed.bytes)
  local surplus_entries = {}
  for _, entry in ipairs(entries_between(log, '-', upto, chunk)) do
    if entry.position > guard or not is_surplus(surplus, entry) then
      break
    end
    surplus_entries[#surplus_entries + 1] = entry
    surplus.count = surplus.count - 1
    surplus.bytes = surplus.bytes - #entry.body
    if not has_expired(entry, math.floor(now_us / 1000)) then
      feed.trimmed = entry.position
    end
  end
  remove_entries(feed, log, claimed, returned, expiry, work, parked, surplus_entries)
end

-- Stores an entry, new or in the place of the one with its id. True when that had not expired.
local function enter_entry(keys, changed, index, entry, now_ms)
  local field = redis.call('HGET', keys.ids, entry.id)
  local ref, before, stored
  if field then
    ref = struct.unpack('>d', field)
    stored = redis.call('HGET', keys.entries, field)
    before = parse_record(stored)
  else
    index.last = index.last + 1
    ref = index.last
    field = field_of(ref)
    redis.call('HSET', keys.ids, entry.id, field)
  end
  local record = pack_record(entry)
  redis.call('HSET', keys.entries, field, record)
  local is_moved = not before or before.marked ~= entry.marked or before.rank ~= entry.rank
  if before and is_moved then
    leave_words(keys, changed, before, ref)
  end
  if is_moved then
    local suffixes, place = suffixes_of(entry.marked), pack_place(entry.rank, ref)
    local added = {}
    for _, member in ipairs(members_of(suffixes, place)) do
      added[#added + 1] = '0'
      added[#added + 1] = member
    end
    redis.call('ZADD', keys.words, unpack(added))
    enter_hot(keys, changed, suffixes, entry, ref, place)
  elseif record ~= stored then
    note_changed(keys, changed, entry, ref)
  end
  if entry.expires_at_ms > 0 then
    redis.call('ZADD', keys.expiry, exact(entry.expires_at_ms), field)
  elseif before and before.expires_at_ms > 0 then
    redis.call('ZREM', keys.expiry, field)
  end
  return before and not has_expired(before.expires_at_ms, now_ms)
end

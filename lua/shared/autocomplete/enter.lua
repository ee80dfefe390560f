-- Notes the newest numbers, where they have changed.
local function note_index(meta, index, before, last_top)
  if index.last ~= before then
    redis.call('HSET', meta, 'last', exact(index.last))
  end
  if last_top ~= index.last_top then
    redis.call('HSET', meta, 'tops', exact(last_top))
  end
end

-- Stores the words of an entry.
local function enter_words(keys, known, suffixes, one)
  local added = {}
  for _, member in ipairs(members_of(suffixes, one.place)) do
    added[#added + 1] = '0'
    added[#added + 1] = member
  end
  redis.call('ZADD', keys.words, unpack(added))
  enter_hot(keys, known, suffixes, one)
end

-- Notes when an entry expires.
local function note_expiry(keys, field, before, entry)
  if entry.expires_at_ms > 0 then
    redis.call('ZADD', keys.expiry, exact(entry.expires_at_ms), field)
  elseif before and before.expires_at_ms > 0 then
    redis.call('ZREM', keys.expiry, field)
  end
end

-- Stores an entry, new or in the place of the one with its id. True when that had not expired.
local function enter_entry(keys, known, index, entry, now_ms)
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
  if record ~= stored then
    redis.call('HSET', keys.entries, field, record)
  end
  local is_moved = not before or before.marked ~= entry.marked or before.rank ~= entry.rank
  if before and is_moved then
    leave_words(keys, known, before, ref)
  end
  local suffixes, one = suffixes_of(entry.marked), to_one(entry.rank, ref)
  known.work = known.work + work_of(suffixes, record)
  if is_moved then
    enter_words(keys, known, suffixes, one)
  elseif record ~= stored then
    note_changed(keys, known, suffixes, one)
  end
  note_expiry(keys, field, before, entry)
  return before and not has_expired(before.expires_at_ms, now_ms)
end

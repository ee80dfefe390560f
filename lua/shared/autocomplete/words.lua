-- The significant bytes of a suffix, and of a query; the last character may be cut.
local MOST_BYTES = 64

-- The folded text from each of its word starts on, each once.
local function suffixes_of(marked)
  local suffixes, seen = {}, {}
  local from = 1
  while from do
    local suffix = string.sub((string.gsub(string.sub(marked, from), '\1', '')), 1, MOST_BYTES)
    if not seen[suffix] then
      seen[suffix] = true
      suffixes[#suffixes + 1] = suffix
    end
    local mark = string.find(marked, '\1', from, true)
    from = mark and mark + 1
  end
  return suffixes
end

-- Members of `words`: a suffix, the end of text, and the place of its entry.
local function members_of(suffixes, place)
  local members = {}
  for at, suffix in ipairs(suffixes) do
    members[at] = suffix .. '\0' .. place
  end
  return members
end

-- Stores the newest numbers, if they have changed.
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

-- Stores when an entry expires.
local function note_expiry(keys, field, before, entry)
  if entry.expires_at_ms > 0 then
    redis.call('ZADD', keys.expiry, exact(entry.expires_at_ms), field)
  elseif before and before.expires_at_ms > 0 then
    redis.call('ZREM', keys.expiry, field)
  end
end

-- Stores an entry, new or replacing the one with its id. True if that one existed and had not expired.
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

-- The data of an entry that tops store.
local function to_one(rank, ref)
  return { rank = rank, ref = ref, place = pack_place(rank, ref) }
end

-- Removes an entry's words from the index.
local function leave_words(keys, known, entry, ref)
  local suffixes, one = suffixes_of(entry.marked), to_one(entry.rank, ref)
  known.work = known.work + work_of(suffixes, '')
  redis.call('ZREM', keys.words, unpack(members_of(suffixes, one.place)))
  leave_hot(keys, known, suffixes, one)
end

-- Removes an entry by its field in `entries`.
local function remove_entry(keys, known, field, record)
  local entry = parse_record(record)
  redis.call('HDEL', keys.entries, field)
  redis.call('HDEL', keys.ids, entry.id)
  redis.call('ZREM', keys.expiry, field)
  leave_words(keys, known, entry, (struct.unpack('>d', field)))
end

-- Removes up to `most` entries that have expired, at least one; after the first only while the call has work left. True
-- if there may be more.
local function reap(keys, known, now_ms, most)
  local due = redis.call('ZRANGEBYSCORE', keys.expiry, '-inf', exact(now_ms), 'LIMIT', '0', most)
  for _, field in ipairs(due) do
    local record = redis.call('HGET', keys.entries, field)
    remove_entry(keys, known, field, record)
    if known.work > MOST_WORK then
      return true
    end
  end
  return #due == most
end

-- Removes the expired ones of these entries, at least one and at most the work of a call. True if there was one.
local function unhide(keys, known, fields, now_ms)
  local found = false
  for _, field in ipairs(fields) do
    local record = redis.call('HGET', keys.entries, field)
    if has_expired(struct.unpack('>d', record), now_ms) then
      remove_entry(keys, known, field, record)
      found = true
    end
    if known.work > MOST_WORK then
      break
    end
  end
  return found
end

-- What tops know of an entry.
local function to_one(rank, ref)
  return { rank = rank, ref = ref, place = pack_place(rank, ref) }
end

-- Takes an entry's words out of the index.
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

-- Removes up to `most` entries that have expired, one at least, and no other one than that where the call has done enough.
-- True when there may be more.
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

-- Takes an entry's words out of the index.
local function leave_words(keys, changed, entry, ref)
  local suffixes, place = suffixes_of(entry.marked), pack_place(entry.rank, ref)
  redis.call('ZREM', keys.words, unpack(members_of(suffixes, place)))
  leave_hot(keys, changed, suffixes, entry, ref, place)
end

-- Removes an entry by its field in `entries`.
local function remove_entry(keys, changed, field, record)
  local entry = parse_record(record)
  redis.call('HDEL', keys.entries, field)
  redis.call('HDEL', keys.ids, entry.id)
  redis.call('ZREM', keys.expiry, field)
  leave_words(keys, changed, entry, (struct.unpack('>d', field)))
end

-- Removes up to `most` entries that have expired. True when there may be more.
local function reap(keys, changed, now_ms, most)
  local due = redis.call('ZRANGEBYSCORE', keys.expiry, '-inf', exact(now_ms), 'LIMIT', '0', most)
  for _, field in ipairs(due) do
    local record = redis.call('HGET', keys.entries, field)
    remove_entry(keys, changed, field, record)
  end
  return #due == most
end

-- The state of an index: its layout, the codec of the payloads, and the numbers of the newest entry and the newest top.
-- Records of callers are stored in the same hash (shared/calls).
local INDEX_LAYOUT = '2'

local function read_index(meta, codec, caller)
  local stored = redis.call('HMGET', meta, 'layout', 'codec', 'last', 'tops', caller)
  return {
    is_new = not stored[1],
    layout = stored[1] or INDEX_LAYOUT,
    codec = stored[2] or codec,
    last = tonumber(stored[3] or 0),
    last_top = tonumber(stored[4] or 0),
    record = stored[5],
  }
end

-- Refuses a call for data of another layout, or of another codec if one is given.
local function refusal_of_form(layout, stored, codec)
  if layout ~= INDEX_LAYOUT then
    return redis.error_reply('LAYOUT ' .. layout)
  elseif codec and stored ~= codec then
    return redis.error_reply('CODEC ' .. stored)
  end
  return nil
end

local function open_index(meta, caller, codec)
  local index = read_index(meta, codec or '', caller)
  return refusal_of_form(index.layout, index.codec, codec), index
end

-- The same for operations that only read.
local function refusal_of_index(meta, codec)
  local stored = redis.call('HMGET', meta, 'layout', 'codec')
  return refusal_of_form(stored[1] or INDEX_LAYOUT, stored[2] or codec, codec)
end

-- The record of an entry:
--   expires_at_ms, rank, length of id, of marked and of text, id, marked, text, payload
-- `id` is empty where it is the text; `marked` is the folded text with \1 before each word start but the first.
local HEAD_BYTES = 22

local function pack_record(entry)
  local id = entry.id == entry.text and '' or entry.id
  local head = struct.pack('>ddHHH', entry.expires_at_ms, entry.rank, #id, #entry.marked, #entry.text)
  return head .. id .. entry.marked .. entry.text .. entry.payload
end

local function parse_record(record)
  local expires_at_ms, rank, id_bytes, marked_bytes, text_bytes = struct.unpack('>ddHHH', record)
  local marked_at = HEAD_BYTES + id_bytes
  local text_at = marked_at + marked_bytes
  local text = string.sub(record, text_at + 1, text_at + text_bytes)
  return {
    expires_at_ms = expires_at_ms,
    rank = rank,
    id = id_bytes == 0 and text or string.sub(record, HEAD_BYTES + 1, marked_at),
    marked = string.sub(record, marked_at + 1, text_at),
    text = text,
    payload = string.sub(record, text_at + text_bytes + 1),
  }
end

local function has_expired(expires_at_ms, now_ms)
  return expires_at_ms > 0 and expires_at_ms <= now_ms
end

-- The commands in the middle of a call, each once on nothing: if the right to one of them is missing, the call is
-- refused before it has changed anything. A partly changed index could not be searched any more. Removals come first,
-- so that a server out of memory continues; a call that may add has written before.
local function try_rights(meta, index, keys)
  redis.call('HDEL', meta, '')
  redis.call('ZREM', keys.words, '')
  redis.call('ZADD', keys.words, 'XX', '0', '')
  redis.call('ZLEXCOUNT', keys.words, '+', '-')
  redis.call('ZRANGEBYLEX', keys.words, '+', '-')
  redis.call('ZREVRANGEBYLEX', keys.words, '-', '+')
  redis.call('ZRANGEBYSCORE', keys.expiry, '+inf', '-inf')
  if not index.is_new then
    redis.call('HSET', meta, 'layout', INDEX_LAYOUT)
  end
end

-- The work of a call, in units of about a microsecond: for each word of an entry, for each of its significant bytes,
-- and for what is stored. A call that has done more than MOST_WORK begins no further entry, so that it ends within some
-- milliseconds. Callers send no more than this (src/autocomplete/entry), but only the script knows the work of removing
-- replaced entries.
local MOST_WORK = 6000
local WORK_OF_WORD = 30
local WORK_OF_FRONT = 30
-- For each following letter when a top is filled up; each place that is looked at costs one unit.
local WORK_OF_CHILD = 10
-- Stored bytes per unit.
local BYTES_OF_WORK = 128

local function work_of(suffixes, record)
  local work = math.ceil(#record / BYTES_OF_WORK)
  for _, suffix in ipairs(suffixes) do
    work = work + WORK_OF_WORD + #suffix
  end
  return work
end

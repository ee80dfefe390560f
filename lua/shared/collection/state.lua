-- Redis expires the keys only this long after they have become invalid: the items after a minute, the records of calls
-- after all retries.
local ITEMS_SLACK_MS = 60000
local META_SLACK_MS = 600000

local function keep_until(meta, items, expires_at_ms, now_ms)
  redis.call('PEXPIRE', meta, exact(expires_at_ms - now_ms + META_SLACK_MS))
  redis.call('PEXPIRE', items, exact(expires_at_ms - now_ms + ITEMS_SLACK_MS))
end

-- The state of a collection, without its items: one hash, read once a call.
--   layout, codec    the form of the stored data, and of the values
--   kind             list, set, hash or sortedSet
--   version          of the newest replace; -1: it had none
--   copy             token of the newest replace; the markers of its pages hold it
--   first            of a list: how many items were removed at its head since then
--   size             how many items there are. If the stored number differs, the server has evicted or lost some
--   largest          bytes that the largest item of this copy may have
--   expires_at_ms    from then on only the copy is valid
-- And by caller, in the same hash, the last call and answer of every slot (shared/calls).
local COLLECTION_LAYOUT = '1'

local function read_collection(meta, caller)
  local stored = redis.call(
    'HMGET',
    meta,
    'layout',
    'codec',
    'kind',
    'version',
    'copy',
    'first',
    'size',
    'largest',
    'expires_at_ms',
    caller
  )
  return {
    layout = stored[1] or COLLECTION_LAYOUT,
    codec = stored[2],
    kind = stored[3],
    version = tonumber(stored[4] or -1),
    copy = tonumber(stored[5] or 0),
    first = tonumber(stored[6] or 0),
    size = tonumber(stored[7] or 0),
    largest = tonumber(stored[8] or 0),
    expires_at_ms = tonumber(stored[9] or 0),
    record = stored[10],
  }
end

local function open_collection(meta, caller)
  local known = read_collection(meta, caller)
  if known.layout ~= COLLECTION_LAYOUT then
    return redis.error_reply('LAYOUT ' .. known.layout)
  end
  return nil, known
end

-- Refuses a call for a collection of another kind, or of another codec.
local function refusal_of_kind(known, kind, codec)
  if known.kind ~= kind then
    return redis.error_reply('INVALID kind: must be that of the collection, ' .. known.kind)
  elseif known.codec ~= codec then
    return redis.error_reply('CODEC ' .. known.codec)
  end
  return nil
end

-- True if a replace with this version must not be stored: it is older, or stored already.
local function is_outdated(known, version)
  return version >= 0 and known.version >= version
end

-- The first write of a replace, so that a server out of memory rejects it before anything is removed. From here on the
-- collection is absent, until its copy is saved: a script that is stopped in between by a missing right leaves no items
-- under another version.
local function begin_copy(meta)
  redis.call('HSET', meta, 'layout', COLLECTION_LAYOUT, 'size', '-1')
end

-- The last write: the items are stored.
local function save_copy(meta, known, size)
  redis.call(
    'HSET',
    meta,
    'size',
    exact(size),
    'codec',
    known.codec,
    'kind',
    known.kind,
    'version',
    exact(known.version),
    'copy',
    exact(known.copy),
    'first',
    '0',
    'largest',
    exact(known.largest),
    'expires_at_ms',
    exact(known.expires_at_ms)
  )
end

local function replaced_answer(copy, expires_at_ms)
  return string.format('%.0f %.0f', copy, expires_at_ms)
end

local function parse_replaced(answer)
  local copy, expires_at_ms = string.match(answer, '^(%d+) (%d+)$')
  return tonumber(copy), tonumber(expires_at_ms)
end

-- True when what a replace of this version brings must not be stored: it is older, or there already.
local function is_outdated(known, version)
  return version >= 0 and known.version >= version
end

-- The first write of a replace, so that a server out of memory refuses it before anything is removed. From here on the collection is absent,
-- until its copy is saved: one that ends in between, for a right is missing, leaves no items under another version.
local function begin_copy(meta)
  redis.call('HSET', meta, 'layout', COLLECTION_LAYOUT, 'size', '-1')
end

-- The last write: the items are there.
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

-- Stores a document with a version greater than that of the one it replaces.
local function store_document(meta, names, documents, name, old_version, document, now_us)
  local version = math.max(old_version + 1, now_us)
  redis.call('HSET', documents, name, string.format('%.0f ', version) .. document)
  redis.call('ZADD', names, '0', name)
  redis.call('HSET', meta, 'layout', CATALOG_LAYOUT)
  return version
end

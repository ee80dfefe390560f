-- A catalog: names in the order of their bytes, each with a small document. A document's version is the
-- server's time at which it was written, so that a name that was removed and put again has another one.
local CATALOG_LAYOUT = '1'

-- Refuses a call for a catalog of another layout.
local function refusal_of_catalog(meta)
  local layout = redis.call('HGET', meta, 'layout') or CATALOG_LAYOUT
  if layout ~= CATALOG_LAYOUT then
    return redis.error_reply('LAYOUT ' .. layout)
  end
  return nil
end

local function parse_document(stored)
  local version, document = string.match(stored, '^(%d+) (.*)$')
  return tonumber(version), document
end

-- The stored form of a document, with a version greater than that of the replaced one.
local function stored_document(old_version, document, now_us)
  local version = math.max(old_version + 1, now_us)
  return version, string.format('%.0f ', version) .. document
end

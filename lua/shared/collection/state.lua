-- All that is known of a collection but its items: one hash, read once a call.
--   layout, codec    the form of the stored data, and of the values
--   kind             list, set, hash or sortedSet
--   version          of the newest replace; -1: it came without one
--   copy             token of the newest replace; the markers of its pages hold it
--   first            of a list: how many items have left at its head since then
--   size             how many items there are. Are others stored, the server has evicted or lost some
--   largest          bytes that the largest item of this copy may have
--   expires_at_ms    nothing of the above counts from then on, but for the copy
-- And by caller, in the same hash, the last call and answer of every slot (shared/calls).
local COLLECTION_LAYOUT = '1'

local function open_collection(meta, caller)
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

-- The state of an index: its layout, the codec of the payloads, and the numbers of the newest entry and the newest top.
-- Those of callers are beside them (shared/calls).
local INDEX_LAYOUT = '2'

local function open_index(meta, codec, caller)
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

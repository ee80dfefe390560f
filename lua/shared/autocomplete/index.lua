-- The state of an index: its layout, the codec of the payloads, and the number of the newest entry. Those
-- of callers are beside them (shared/calls).
local INDEX_LAYOUT = '1'

local function open_index(meta, codec, caller)
  local stored = redis.call('HMGET', meta, 'layout', 'codec', 'last', caller)
  return {
    layout = stored[1] or INDEX_LAYOUT,
    codec = stored[2] or codec,
    last = tonumber(stored[3] or 0),
    record = stored[4],
  }
end

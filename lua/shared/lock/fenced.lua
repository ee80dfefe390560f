-- A value that remembers the greatest token that wrote it, and which call of which process did: '<process> <number>'.
local FENCED_LAYOUT = '1'

local function open_fenced(fenced)
  local stored = redis.call('HMGET', fenced, 'layout', 'codec', 'token', 'value', 'by')
  local process, call = string.match(stored[5] or '', '^(%S*) (%d+)$')
  return {
    layout = stored[1] or FENCED_LAYOUT,
    codec = stored[2],
    token = tonumber(stored[3] or 0),
    value = stored[4],
    process = process,
    call = tonumber(call),
  }
end

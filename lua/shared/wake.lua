-- Tells those who wait to look now. An empty channel tells nobody.
-- @optional SPUBLISH only where the caller's driver has seen that the server knows sharded channels
local function wake(channel, sharded, reason)
  if channel == '' then
    return
  end
  if sharded then
    redis.call('SPUBLISH', channel, reason)
  else
    redis.call('PUBLISH', channel, reason)
  end
end

-- Tells those who wait to look now. An empty channel tells nobody, nor does a user who may not publish: then they look by
-- themselves after a while. What the script has written is kept in any case, so a refusal must not end it.
-- @optional SPUBLISH only where the caller's driver has seen that the server knows sharded channels
local function wake(channel, sharded, reason)
  if channel == '' then
    return
  end
  if sharded then
    redis.pcall('SPUBLISH', channel, reason)
  else
    redis.pcall('PUBLISH', channel, reason)
  end
end

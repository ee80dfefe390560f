-- Publishes a message to those who listen to a queue; see shared/queue/message.
-- @optional SPUBLISH only where the caller's driver has seen that the server knows sharded channels

local function message_head(number, now_ms)
  return string.format('%.0f %.0f', number, now_ms)
end

-- `stored`: where to. Where the user may not publish, listeners learn by the next number that they have missed something.
local function send(stored, message)
  local channel = string.sub(stored, 3)
  if string.byte(stored) == 49 then
    redis.pcall('SPUBLISH', channel, message)
  else
    redis.pcall('PUBLISH', channel, message)
  end
end

-- Tells those who listen what happened in a call; see shared/queue/message.
-- @include shared/queue/message
local function publish(listeners, events, now_ms)
  local stored = redis.call('HGET', listeners, 'channel')
  if #events > 0 and stored then
    send_message(stored, redis.call('HINCRBY', listeners, 'number', '1'), events, now_ms)
  end
end

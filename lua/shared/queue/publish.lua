-- Tells those who listen what happened in a call; see shared/queue/message.
local function publish(listeners, events, now_ms)
  local stored = #events > 0 and redis.pcall('HGET', listeners, 'channel')
  local number = type(stored) == 'string' and redis.pcall('HINCRBY', listeners, 'number', '1')
  if type(number) == 'number' then
    send_message(stored, number, events, now_ms)
  end
end

-- Those who listen to events; see shared/queue/message.
local MOST_LISTENERS = 1000
local LISTENERS_KEPT_MS = '7200000'

-- Drops those whose time is over. Answers how many others there are, and until when the last of them listens.
local function look_at_listeners(listeners, name, now_ms)
  local stored = redis.call('HGETALL', listeners)
  local count, last_ms = 0, 0
  for at = 1, #stored, 2 do
    local other = string.match(stored[at], '^l(.*)$')
    local until_ms = other and tonumber(stored[at + 1])
    if until_ms and until_ms <= now_ms then
      redis.call('HDEL', listeners, stored[at])
    elseif until_ms and other ~= name then
      count, last_ms = count + 1, math.max(last_ms, until_ms)
    end
  end
  return count, last_ms
end

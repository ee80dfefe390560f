-- Beside the messages both layouts keep the same state.
local meta = KEYS[1] -- hash: last position, position up to which claims have looked, last token
local claimed = KEYS[4] -- sorted set: position -> token of its claim
local leases = KEYS[5] -- sorted set: token -> when the claim ends, in ms
local returned = KEYS[6] -- sorted set: positions that are free again
local work = KEYS[7] -- hash: position -> claims so far

local function clock_us()
  local now = redis.call('TIME')
  return now[1] * 1000000 + now[2]
end

local function read_number(name)
  return tonumber(redis.call('HGET', meta, name) or 0)
end

local function tell_live(messages, now_ms)
  local answer = {}
  for _, message in ipairs(messages) do
    local expires_at_ms = message.ttl_ms == 0 and 0 or math.floor(message.position / 1000) + message.ttl_ms
    if expires_at_ms == 0 or expires_at_ms > now_ms then
      answer[#answer + 1] = message.position
      answer[#answer + 1] = expires_at_ms
      answer[#answer + 1] = message.body
    end
  end
  return answer
end

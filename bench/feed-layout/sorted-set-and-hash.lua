-- Layout: a sorted set of positions, and a hash from position to '<life in ms> <origin> <body>'.
local log = KEYS[2]
local packed = KEYS[3]

local function add_message(position, ttl_ms, origin, body)
  redis.call('ZADD', log, position, position)
  redis.call('HSET', packed, position, ttl_ms .. ' ' .. origin .. ' ' .. body)
end

local function messages_at(positions)
  local messages = {}
  if #positions == 0 then
    return messages
  end
  for at, text in ipairs(redis.call('HMGET', packed, unpack(positions))) do
    if text then
      local ttl_ms, origin, body = string.match(text, '^(%d+) (%S*) (.*)$')
      local position = tonumber(positions[at])
      messages[#messages + 1] =
        { position = position, ttl_ms = tonumber(ttl_ms), origin = origin, body = body }
    end
  end
  return messages
end

local function messages_after(position, limit)
  return messages_at(redis.call('ZRANGEBYSCORE', log, position + 1, '+inf', 'LIMIT', 0, limit))
end

local function remove_messages(positions)
  redis.call('ZREM', log, unpack(positions))
  redis.call('HDEL', packed, unpack(positions))
end

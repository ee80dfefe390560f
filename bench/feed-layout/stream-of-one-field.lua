-- Layout: one stream entry a message, `<position>-0`, with one field m: '<life in ms> <origin> <body>'.
local log = KEYS[2]

local function add_message(position, ttl_ms, origin, body)
  redis.call('XADD', log, position, 'm', ttl_ms .. ' ' .. origin .. ' ' .. body)
end

local function messages_between(from, to, limit)
  local messages = redis.call('XRANGE', log, from, to, 'COUNT', limit)
  for at, entry in ipairs(messages) do
    local position = tonumber(string.match(entry[1], '^%d+'))
    local ttl_ms, origin, body = string.match(entry[2][2], '^(%d+) (%S*) (.*)$')
    messages[at] = { position = position, ttl_ms = tonumber(ttl_ms), origin = origin, body = body }
  end
  return messages
end

local function messages_after(position, limit)
  return messages_between(position + 1, '+', limit)
end

local function messages_at(positions)
  local messages = {}
  for _, position in ipairs(positions) do
    messages[#messages + 1] = messages_between(position, position, 1)[1]
  end
  return messages
end

local function remove_messages(positions)
  redis.call('XDEL', log, unpack(positions))
end

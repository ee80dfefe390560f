-- Layout: one stream entry a message, `<position>-0`, with the fields t (life in ms), x (origin), b (body).
local log = KEYS[2]

local function add_message(position, ttl_ms, origin, body)
  redis.call('XADD', log, position, 't', ttl_ms, 'x', origin, 'b', body)
end

local function messages_between(from, to, limit)
  local messages = redis.call('XRANGE', log, from, to, 'COUNT', limit)
  for at, entry in ipairs(messages) do
    local fields = entry[2]
    local position = tonumber(string.match(entry[1], '^%d+'))
    messages[at] = { position = position, ttl_ms = tonumber(fields[2]), origin = fields[4], body = fields[6] }
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

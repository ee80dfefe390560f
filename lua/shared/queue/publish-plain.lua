-- Tells those who listen what happened to plain jobs in a call; see shared/queue/message.
-- @include shared/queue/message

-- Numbers and tokens are texts with spaces between; one name, or one for each job.
local function plain_line(what, numbers, tokens, names)
  local parts = { '*' .. what, numbers, tokens }
  for at, name in ipairs(names) do
    parts[at + 3] = spelled(name)
  end
  return table.concat(parts, '\t')
end

local function publish_lines(listeners, lines, now_ms)
  local stored = redis.call('HGET', listeners, 'channel')
  if #lines > 0 and stored then
    send_lines(stored, redis.call('HINCRBY', listeners, 'number', '1'), lines, now_ms)
  end
end

-- Tells those who listen what happened to plain jobs in a call; see shared/queue/message. A message is put together once, of
-- pieces: the server's Lua takes longer to throw away a text than to make it. The first piece is left free for the head.

-- Adds a line, which begins '\n*<what>\t'. Numbers and tokens are texts with spaces between; one name, or one for each job.
local function plain_line(pieces, beginning, numbers, tokens, names)
  local at = #pieces
  pieces[at + 1], pieces[at + 2], pieces[at + 3], pieces[at + 4] = beginning, numbers, '\t', tokens
  for place, name in ipairs(names) do
    pieces[at + 3 + place * 2], pieces[at + 4 + place * 2] = '\t', spelled(name)
  end
end

local function publish_pieces(listeners, pieces, now_ms)
  local stored = #pieces > 1 and redis.pcall('HGET', listeners, 'channel')
  local number = type(stored) == 'string' and redis.pcall('HINCRBY', listeners, 'number', '1')
  if type(number) == 'number' then
    pieces[1] = message_head(number, now_ms)
    send(stored, table.concat(pieces))
  end
end

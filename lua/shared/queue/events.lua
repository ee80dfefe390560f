-- Event listeners; see `send_message`.
local MOST_LISTENERS = 1000
local LISTENERS_KEPT_MS = '7200000'

-- Drops expired listeners. Returns how many others there are, and until when the last of them listens.
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

-- The entries of such a text, the oldest first, and how many were dropped; see `add_entry` in shared/queue/ready.
local function list_entries(packed)
  local entries, at = {}, 5
  if not packed then
    return entries, 0
  end
  while at <= #packed do
    local entry, behind = struct.unpack('>Hc0', packed, at)
    entries[#entries + 1] = entry
    at = behind
  end
  return entries, struct.unpack('>I4', packed) - #entries
end

-- Publishes messages to the listeners of a queue.

local function message_head(number, now_ms)
  return string.format('%.0f %.0f', number, now_ms)
end

-- `stored`: their channel. If the user may not publish, listeners detect the loss by the next number.
-- @optional SPUBLISH only where the caller's driver has seen that the server knows sharded channels
local function send(stored, message)
  local channel = string.sub(stored, 3)
  if string.byte(stored) == 49 then
    redis.pcall('SPUBLISH', channel, message)
  else
    redis.pcall('PUBLISH', channel, message)
  end
end

-- A text between tabs; see below.
local function spelled(text)
  return (
    string.gsub(text, '[%c%%]', function(letter)
      return string.format('%%%02X', string.byte(letter))
    end)
  )
end

-- The events of a queue, for its listeners. The hash of listeners holds under 'l' and the name of a listener until when
-- it listens, under 'channel' its channel ('<sharded>:<channel>'), and under 'number' the number of the newest message, so
-- that a missed one is noticed. A call publishes one message with all its events: a line '<number> <now_ms>', and a line
-- for each
--   <what> <job> <attempt> <token> <tracked> <id> <name> <more>
-- with tabs between. Control characters and percent signs in the last three are escaped as '%09'; an empty id is the number
-- of the job, and `more` the kind of a failure, or a line of a log. An event of several plain jobs in their first attempt
-- is one line, because separate lines would cost more than all other work on them:
--   *<what> <jobs> <tokens> <name> <name> …
-- with spaces between numbers, and between tokens. A single token is that of the first job, and those of the others follow
-- it one by one; none: they were never claimed. A single name is that of all.

local function event_line(event)
  return string.format(
    '%s\t%s\t%d\t%.0f\t%d\t%s\t%s\t%s',
    event[1],
    event[2],
    event[5],
    event[6],
    has_flag(event[7], FLAGS.tracked) and 1 or 0,
    spelled(event[3]),
    spelled(event[4]),
    spelled(event[8])
  )
end

-- An event: what, number, id, name, attempt, token, flags, and more.
local function send_message(stored, number, events, now_ms)
  local lines = { message_head(number, now_ms) }
  for at, event in ipairs(events) do
    lines[at + 1] = event_line(event)
  end
  send(stored, table.concat(lines, '\n'))
end

-- Notifies listeners of the events of a call; see above.
local function publish(listeners, events, now_ms)
  local stored = #events > 0 and redis.pcall('HGET', listeners, 'channel')
  local number = type(stored) == 'string' and redis.pcall('HINCRBY', listeners, 'number', '1')
  if type(number) == 'number' then
    send_message(stored, number, events, now_ms)
  end
end

-- Records an event of a job for the listeners, if there are any; see above. A job that was never claimed has no run.
local function happened(queue, what, seq, job, run, more)
  local events = queue.events
  if not events then
    return
  elseif run then
    events[#events + 1] = { what, seq, job.id, job.name, run.attempts, run.token, run.flags, more }
  else
    events[#events + 1] = { what, seq, job.id, job.name, 0, 0, 0, more }
  end
end

-- What happens in a queue, told to those who listen. The hash of listeners holds under 'l' and the name of one until when it
-- listens, under 'channel' where ('<sharded>:<channel>'), and under 'number' the number of the newest message, so that one
-- that is missed is noticed. A call publishes one message with all its events: a line '<number> <now_ms>', and a line for each
--   <what> <job> <attempt> <token> <tracked> <id> <name> <more>
-- with tabs between. Control characters and percent signs in the last three are told as '%09'; an empty id is the number of
-- the job, and `more` the kind of a failure, or a line of a log. What happened to several plain jobs in their first attempt is
-- one line, for a line each would cost more than all else that is done with them:
--   *<what> <jobs> <tokens> <name> <name> …
-- with spaces between numbers, and between tokens. A single token is that of the first job, and those of the others follow it
-- one by one; none: they were never claimed. A single name is that of all.

local function event_line(event)
  return string.format(
    '%s\t%s\t%d\t%.0f\t%d\t%s\t%s\t%s',
    event[1],
    event[2],
    event[5],
    event[6],
    event[7] % 32 >= 16 and 1 or 0,
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

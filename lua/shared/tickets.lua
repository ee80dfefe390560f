-- Those who wait, first come first served: a sorted set of tickets by number.
-- A ticket is the text '<id> <kind> <lease_ms> <listens> <units> <holder>'. Its id is '<process>.<number>', and
-- a process listens on '<channel>:<process>'. Whoever frees something tells the process of the ticket:
--   granted <id> <token> <expires_at_ms> <now_ms>     it is yours
--   first <id> <recheck_ms>                           you are the first in line: look again then, at the latest
-- A process that nobody hears has died: its tickets are passed over. On a cluster without sharded channels
-- the number of those who hear proves nothing (`counted` is false); there the claim of a grant ends soon.
local QUEUE_KEPT_MS = 7200000
-- Dead tickets passed over by one call.
local MOST_SKIPPED = 500

local function format_ticket(ticket)
  return string.format(
    '%s %s %d %d %d %s',
    ticket.id,
    ticket.kind,
    ticket.lease_ms,
    ticket.listens,
    ticket.units,
    ticket.holder
  )
end

local function parse_ticket(text)
  local id, kind, lease_ms, listens, units, holder = string.match(text, '^(%S+) (%S) (%d+) (%d) (%d+) (.*)$')
  return {
    text = text,
    id = id,
    kind = kind,
    lease_ms = tonumber(lease_ms),
    listens = listens == '1',
    units = tonumber(units),
    holder = holder,
  }
end

local function process_of(ticket)
  return string.match(ticket.id, '^[^.]*')
end

local function first_message(ticket, recheck_ms)
  return string.format('first %s %.0f', ticket.id, recheck_ms)
end

-- True unless it is certain that the process is gone.
local function tell_process(ticket, message, how)
  if not ticket.listens then
    return true
  end
  local channel = how.channel .. ':' .. process_of(ticket)
  local heard
  if how.sharded then
    heard = redis.call('SPUBLISH', channel, message)
  else
    heard = redis.call('PUBLISH', channel, message)
  end
  return heard > 0 or not how.counted
end

-- The first ticket, or nil.
local function first_ticket(queue)
  local text = redis.call('ZRANGE', queue, 0, 0)[1]
  return text and parse_ticket(text) or nil
end

-- Tells the first in line that it is. Answers false when nobody waits any more.
local function call_first(queue, recheck_ms, how)
  for _ = 1, MOST_SKIPPED do
    local ticket = first_ticket(queue)
    if not ticket then
      return false
    end
    if tell_process(ticket, first_message(ticket, recheck_ms), how) then
      return true
    end
    redis.call('ZREM', queue, ticket.text)
  end
  return true
end

-- Adds a ticket behind all others, unless it stands in line already. Answers the number of the newest
-- ticket, and how many stand before this one.
local function stand_in_line(queue, ticket, last_ticket)
  local text = format_ticket(ticket)
  if redis.call('ZADD', queue, 'NX', last_ticket + 1, text) == 1 then
    redis.call('PEXPIRE', queue, QUEUE_KEPT_MS)
    return last_ticket + 1, redis.call('ZCARD', queue) - 1
  end
  return last_ticket, redis.call('ZRANK', queue, text)
end

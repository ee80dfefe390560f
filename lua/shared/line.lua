-- The line of tickets; see shared/tickets.
-- Dead tickets passed over by one call.
local MOST_SKIPPED = 500

-- Whether it asked within the last quarter of a second: its id ends with the time at which it did.
local function has_just_asked(ticket, now_ms)
  local asked_ms = string.match(ticket.id, '@(%d+)$')
  return asked_ms and math.abs(now_ms - asked_ms) <= 250
end

-- For how long a ticket is granted what it waits for: its whole lease, where its process listens here and it has just asked;
-- else for the time in which it has to ask.
local function offered_ms(ticket, heard, claim_ms, now_ms)
  if heard and has_just_asked(ticket, now_ms) then
    return ticket.lease_ms
  end
  return math.min(ticket.lease_ms, claim_ms)
end

-- The first ticket, or nil.
local function first_ticket(queue)
  local text = redis.call('ZRANGE', queue, '0', '0')[1]
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

-- Tells this ticket that it is the first in line, or the next one whose process lives. Answers false when
-- nobody waits any more; `ticket` is nil when nobody did.
local function call_next(queue, ticket, recheck_ms, how)
  if not ticket then
    return false
  elseif tell_process(ticket, first_message(ticket, recheck_ms), how) then
    return true
  end
  redis.call('ZREM', queue, ticket.text)
  return call_first(queue, recheck_ms, how)
end

-- Tells a ticket what is granted to it, which the caller writes down next. Behind a write, which may change nothing: a server that
-- refuses writes, such as a replica that was the primary, refuses the first of a script, and what is told then has not happened.
-- Answers as `publish_to`.
local function tell_granted(queue, ticket, message, how)
  if not how.writes then
    redis.call('ZREM', queue, '')
    how.writes = true
  end
  return publish_to(ticket, message, how)
end

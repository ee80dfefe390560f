-- The line of tickets; see shared/tickets.
local QUEUE_KEPT_MS = '7200000'
-- Dead tickets passed over by one call.
local MOST_SKIPPED = 500

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

-- Adds a ticket, as text, behind all others, unless it stands in line already. Answers the number of the newest
-- ticket, and how many stand before this one.
local function stand_in_line(queue, text, last_ticket)
  if redis.call('ZADD', queue, 'NX', last_ticket + 1, text) == 1 then
    redis.call('PEXPIRE', queue, QUEUE_KEPT_MS)
    return last_ticket + 1, redis.call('ZCARD', queue) - 1
  end
  return last_ticket, redis.call('ZRANK', queue, text)
end

-- Standing in the line of tickets; see shared/tickets.
local QUEUE_KEPT_MS = '7200000'

-- The first one asks: it is not silent; see shared/silent.
local function note_asked(queue, text)
  local score = redis.call('ZSCORE', queue, text)
  if string.find(score, '.', 1, true) then
    redis.call('ZADD', queue, 'XX', math.floor(score), text)
  end
end

-- Adds a ticket, as text, behind all others, unless it stands in line already. Answers the number of the newest
-- ticket, and how many stand before this one.
local function stand_in_line(queue, text, last_ticket)
  if redis.call('ZADD', queue, 'NX', last_ticket + 1, text) == 1 then
    redis.call('PEXPIRE', queue, QUEUE_KEPT_MS)
    return last_ticket + 1, redis.call('ZCARD', queue) - 1
  end
  local place = redis.call('ZRANK', queue, text)
  if place == 0 then
    note_asked(queue, text)
  end
  return last_ticket, place
end

-- The text of a ticket that asks again. One whose process has begun or ceased to listen since then keeps its place.
local function keep_place(queue, ticket)
  local text, before = format_ticket(ticket), other_text(ticket)
  local score = redis.call('ZSCORE', queue, before)
  if score then
    redis.call('ZREM', queue, before)
    redis.call('ZADD', queue, 'NX', score, text)
  end
  return text
end

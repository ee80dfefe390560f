-- The line of tickets, in `keys.queue`, of a lock or a semaphore: `unit` is its state, with the time of the call (`now_ms`), how long
-- others have to confirm what they get (`claim_ms`), and how to tell them (`how`, see shared/messages).

-- Dead tickets passed over by one call.
local MOST_SKIPPED = 500

-- Whether it asked within the last quarter of a second: its id ends with the time at which it did.
local function has_just_asked(unit, ticket)
  local asked_ms = string.match(ticket.id, '@(%d+)$')
  return asked_ms and math.abs(unit.now_ms - asked_ms) <= 250
end

-- For how long a ticket is granted what it waits for: its whole lease, where its process listens here and it has just asked;
-- else for the time in which it has to ask.
local function offered_ms(unit, ticket, heard)
  if heard and has_just_asked(unit, ticket) then
    return ticket.lease_ms
  end
  return math.min(ticket.lease_ms, unit.claim_ms)
end

-- The first ticket, or nil.
local function first_ticket(keys)
  local text = redis.call('ZRANGE', keys.queue, '0', '0')[1]
  return text and parse_ticket(text) or nil
end

-- Tells the first in line that it is. Answers false when nobody waits any more.
local function call_first(keys, unit, recheck_ms)
  for _ = 1, MOST_SKIPPED do
    local ticket = first_ticket(keys)
    if not ticket then
      return false
    end
    if tell_process(ticket, first_message(ticket, recheck_ms), unit.how) then
      return true
    end
    redis.call('ZREM', keys.queue, ticket.text)
  end
  return true
end

-- Tells this ticket that it is the first in line, or the next one whose process lives. Answers false when
-- nobody waits any more; `ticket` is nil when nobody did.
local function call_next(keys, unit, ticket, recheck_ms)
  if not ticket then
    return false
  elseif tell_process(ticket, first_message(ticket, recheck_ms), unit.how) then
    return true
  end
  redis.call('ZREM', keys.queue, ticket.text)
  return call_first(keys, unit, recheck_ms)
end

-- Tells a ticket what is granted to it, which the caller writes down next. Behind a write, which may change nothing: a server that
-- refuses writes, such as a replica that was the primary, refuses the first of a script, and what is told then has not happened.
-- Answers as `publish_to`.
local function tell_granted(keys, unit, ticket, message)
  if not unit.how.writes then
    redis.call('ZREM', keys.queue, '')
    unit.how.writes = true
  end
  return publish_to(ticket, message, unit.how)
end

-- Standing in the line of tickets.
local QUEUE_KEPT_MS = '7200000'

-- The first one asks: it is not silent; see `is_silent`.
local function note_asked(keys, text)
  local score = redis.call('ZSCORE', keys.queue, text)
  if string.find(score, '.', 1, true) then
    redis.call('ZADD', keys.queue, 'XX', math.floor(score), text)
  end
end

-- Adds a ticket, as text, behind all others, unless it stands in line already. Answers the number of the newest
-- ticket, and how many stand before this one.
local function stand_in_line(keys, unit, text)
  local last_ticket = unit.last_ticket
  if redis.call('ZADD', keys.queue, 'NX', last_ticket + 1, text) == 1 then
    redis.call('PEXPIRE', keys.queue, QUEUE_KEPT_MS)
    return last_ticket + 1, redis.call('ZCARD', keys.queue) - 1
  end
  local place = redis.call('ZRANK', keys.queue, text)
  if place == 0 then
    note_asked(keys, text)
  end
  return last_ticket, place
end

-- The text of a ticket that asks again. One whose process has begun or ceased to listen since then keeps its place.
local function keep_place(keys, ticket)
  local text, before = format_ticket(ticket), other_text(ticket)
  local score = redis.call('ZSCORE', keys.queue, before)
  if score then
    redis.call('ZREM', keys.queue, before)
    redis.call('ZADD', keys.queue, 'NX', score, text)
  end
  return text
end

-- Tells the first ticket of another process when to ask: a process that sleeps cannot look after itself.
local function call_other(keys, unit, process, recheck_ms)
  for _, text in ipairs(redis.call('ZRANGE', keys.queue, '0', '99')) do
    local ticket = parse_ticket(text)
    if
      process_of(ticket) ~= process and tell_process(ticket, first_message(ticket, recheck_ms), unit.how)
    then
      return
    end
  end
end

-- One that stands first and does not take what is free keeps all others waiting: it wants more than that, or to have a lock alone, or it
-- may not be told. As long as it lives it asks every two seconds. One that does not, although others look, sleeps, or has died where the
-- server cannot tell, and its tickets are sent back. A look is noted behind the point of the ticket's number, in thousandths:
--   0            nobody has looked since it asked
--   1 to 400     the second, of 400, in which another one looked and told it that it is the first, if it may be told
--   401 to 800   the second in which it was told once more, for it had not asked for a while
local SILENT_S = 4
local LOOKED_S = 400

-- Answers whether this ticket, which was looked at just now, has not asked although it was looked at twice before.
-- `own` looks.
local function is_silent(keys, unit, ticket, own)
  if process_of({ id = own }) == process_of(ticket) then
    return false
  end
  local score = tonumber(redis.call('ZSCORE', keys.queue, ticket.text))
  local number = math.floor(score)
  local noted, second = math.floor((score - number) * 1000 + 0.5), math.floor(unit.now_ms / 1000) % LOOKED_S
  local told = math.ceil(noted / LOOKED_S)
  if told > 0 and (second + 1 - noted) % LOOKED_S < SILENT_S then
    return false
  elseif told == 2 then
    return true
  end
  local noted_now = told * LOOKED_S + second + 1
  -- A full server may refuse it to one who gives something back: then the next one who looks notes it.
  redis.pcall('ZADD', keys.queue, 'XX', string.format('%.3f', number + noted_now / 1000), ticket.text)
  return false
end

-- Sends back the process of this ticket if it is silent. Answers whether it was.
local function pass_silent(keys, unit, ticket, own)
  if not is_silent(keys, unit, ticket, own) then
    return false
  end
  send_back(keys, unit, { [process_of(ticket)] = true }, own)
  return true
end

-- Processes that did not take what they were offered.
local MOST_SENT_BACK = '1999'

-- Removes tickets, and tells their processes to come: each in one message.
local function remove_and_call(keys, unit, texts)
  local tickets, messages = {}, {}
  for _, text in ipairs(texts) do
    local ticket = parse_ticket(text)
    local process = process_of(ticket)
    tickets[process] = tickets[process] or ticket
    messages[process] = messages[process] or {}
    table.insert(messages[process], 'come ' .. ticket.id)
  end
  for from = 1, #texts, 1000 do
    redis.call('ZREM', keys.queue, unpack(texts, from, math.min(from + 999, #texts)))
  end
  for process, lines in pairs(messages) do
    tell_process(tickets[process], table.concat(lines, '\n'), unit.how)
  end
end

-- Removes the tickets of processes that did not take what they were offered, so that each of these processes is waited
-- for once; but for the process of `own`, which calls and so is awake. Whoever stands in line again stands behind all others.
local function send_back(keys, unit, late, own)
  late[process_of({ id = own })] = nil
  if not next(late) then
    return
  end
  local theirs = {}
  for _, text in ipairs(redis.call('ZRANGE', keys.queue, '0', MOST_SENT_BACK)) do
    if late[process_of({ id = text })] then
      theirs[#theirs + 1] = text
    end
  end
  if theirs[1] then
    remove_and_call(keys, unit, theirs)
  end
end

-- Notes the process of an attempt that did not take what it was offered, by what has ended: an offer ends a second after it was
-- made; what was asked for lasts longer, or was for no longer.
local function note_late(unit, id, token, ended_ms)
  if id ~= '' and ended_ms - math.floor(token / 1000) <= 1000 then
    unit.late = unit.late or {}
    unit.late[string.match(id, '^[^.]*')] = true
  end
end

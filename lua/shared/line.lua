-- The line of tickets, in `keys.queue`, of a lock or a semaphore: `unit` is its state, with the time of the call
-- (`now_ms`), how long waiters have to confirm a hand-off (`claim_ms`), and how to notify them (`how`, see
-- shared/messages).

local QUEUE_KEPT_MS = '7200000'

-- Dead tickets skipped by one call.
local MOST_SKIPPED = 500

-- Whether it called within the last quarter of a second: its id ends with the time of that call.
local function has_just_asked(unit, ticket)
  local asked_ms = string.match(ticket.id, '@(%d+)$')
  return asked_ms and math.abs(unit.now_ms - asked_ms) <= 250
end

-- How long a ticket gets: its whole lease, if its process listens here and it has just called; otherwise the time that
-- it has to call.
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

-- The first two tickets, with their numbers; nil for those that are missing.
local function first_two(keys)
  local pair = redis.call('ZRANGE', keys.queue, '0', '1', 'WITHSCORES')
  local first, second = pair[1] and parse_ticket(pair[1]), pair[3] and parse_ticket(pair[3])
  if first then
    first.number = pair[2]
  end
  if second then
    second.number = pair[4]
  end
  return first, second
end

local function drop_ticket(keys, ticket)
  redis.call('ZREM', keys.queue, ticket.text)
end

-- A process is notified of a grant after all writes: a server that rejects one of them, such as a demoted primary, must
-- not have notified it. Where the removal of its ticket comes last, its right is tried before, on nothing, once a call.
local function try_to_drop(keys, unit)
  if not unit.how.may_drop then
    redis.call('ZREM', keys.queue, '')
    unit.how.may_drop = true
  end
end

-- Returns a ticket to its place, whose process may not be notified. Where this right is missing too, it calls again.
local function put_back(keys, ticket)
  redis.pcall('ZADD', keys.queue, 'NX', ticket.number, ticket.text)
  redis.pcall('PEXPIRE', keys.queue, QUEUE_KEPT_MS)
end

-- Notifies the first in line that it is first. Returns false if there are no waiters left.
local function call_first(keys, unit, recheck_ms)
  for _ = 1, MOST_SKIPPED do
    local ticket = first_ticket(keys)
    if not ticket then
      return false
    end
    if notify_process(ticket, first_message(ticket, recheck_ms), unit.how) then
      return true
    end
    redis.call('ZREM', keys.queue, ticket.text)
  end
  return true
end

-- Notifies this ticket that it is first in line, or the next one whose process is alive. Returns false if there are no
-- waiters left; `ticket` is nil if there were none.
local function call_next(keys, unit, ticket, recheck_ms)
  if not ticket then
    return false
  elseif notify_process(ticket, first_message(ticket, recheck_ms), unit.how) then
    return true
  end
  redis.call('ZREM', keys.queue, ticket.text)
  return call_first(keys, unit, recheck_ms)
end

-- Places in the line of tickets. Not every ticket moves the expiry of the line, but the first one, each of so many, and
-- each that calls again, as one does that waits for longer than 15 s: a line that fewer have joined for two hours has
-- had a second call, or was empty.
local TICKETS_A_MOVE = 64

-- The first one has called: it is not silent; see `is_silent`.
local function note_asked(keys, text)
  local score = redis.call('ZSCORE', keys.queue, text)
  if string.find(score, '.', 1, true) then
    redis.call('ZADD', keys.queue, 'XX', math.floor(score), text)
  end
end

-- Appends a ticket, as text, to the line, unless it is there already. Returns the number of the newest ticket, and how
-- many are before this one.
local function stand_in_line(keys, unit, text)
  local last_ticket = unit.last_ticket
  local before = redis.call('ZCARD', keys.queue)
  if redis.call('ZADD', keys.queue, 'NX', last_ticket + 1, text) == 1 then
    local moves = before == 0 or last_ticket % TICKETS_A_MOVE == 0
    if moves and type(redis.pcall('PEXPIRE', keys.queue, QUEUE_KEPT_MS)) ~= 'number' then
      -- Refused: the attempt is not in line.
      redis.call('ZREM', keys.queue, text)
      redis.call('PEXPIRE', keys.queue, QUEUE_KEPT_MS)
    end
    return last_ticket + 1, before
  end
  redis.call('PEXPIRE', keys.queue, QUEUE_KEPT_MS)
  local place = redis.call('ZRANK', keys.queue, text)
  if place == 0 then
    note_asked(keys, text)
  end
  return last_ticket, place
end

-- The text of a ticket that calls again. If its process has begun or stopped listening since then, it keeps its place.
local function keep_place(keys, ticket)
  local text, before = format_ticket(ticket), other_text(ticket)
  local score = redis.call('ZSCORE', keys.queue, before)
  if score then
    redis.call('ZREM', keys.queue, before)
    redis.call('ZADD', keys.queue, 'NX', score, text)
  end
  return text
end

-- Notifies the first ticket of another process when to call: a process that sleeps cannot check by itself.
local function call_other(keys, unit, process, recheck_ms)
  for _, text in ipairs(redis.call('ZRANGE', keys.queue, '0', '99')) do
    local ticket = parse_ticket(text)
    if
      process_of(ticket) ~= process and notify_process(ticket, first_message(ticket, recheck_ms), unit.how)
    then
      return
    end
  end
end

-- A first ticket that does not take what is free blocks all others: it wants more than that, or an exclusive lock, or
-- it may not be notified. While alive it calls every two seconds. If it does not, although others check, its process
-- sleeps, or has died undetected, and its tickets are sent back. A check is noted after the decimal point of the
-- ticket's number, in thousandths:
--   0            no check since its last call
--   1 to 400     the second, of 400, in which another attempt checked and notified it that it is first, if permitted
--   401 to 800   the second in which it was notified once more, because it had not called for a while
local SILENT_S = 4
local LOOKED_S = 400

-- Returns whether this ticket, which was checked just now, has not called since two earlier checks. `own` does the
-- check.
local function is_silent(keys, unit, ticket, own)
  if process_of({ id = own }) == process_of(ticket) then
    return false
  end
  local score = tonumber(redis.call('ZSCORE', keys.queue, ticket.text))
  local number = math.floor(score)
  local noted, second = math.floor((score - number) * 1000 + 0.5), math.floor(unit.now_ms / 1000) % LOOKED_S
  local notified = math.ceil(noted / LOOKED_S)
  if notified > 0 and (second + 1 - noted) % LOOKED_S < SILENT_S then
    return false
  elseif notified == 2 then
    return true
  end
  local noted_now = notified * LOOKED_S + second + 1
  -- A full server may reject this for a caller that releases something: then the next check notes it.
  redis.pcall('ZADD', keys.queue, 'XX', string.format('%.3f', number + noted_now / 1000), ticket.text)
  return false
end

-- Sends back the process of this ticket if it is silent. Returns whether it was.
local function pass_silent(keys, unit, ticket, own)
  if not is_silent(keys, unit, ticket, own) then
    return false
  end
  send_back(keys, unit, { [process_of(ticket)] = true }, own)
  return true
end

-- Bound on processes that did not take an offer.
local MOST_SENT_BACK = '1999'

-- Removes tickets, and notifies their processes to call: each in one message.
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
    notify_process(tickets[process], table.concat(lines, '\n'), unit.how)
  end
end

-- Removes the tickets of processes that did not take an offer, so that each of these processes delays the line once;
-- except the process of `own`, which is calling and so is awake. A ticket that comes back joins at the end.
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

-- Records the process of an attempt that did not take an offer, recognized by what has ended: an offer ends a second
-- after it was made; a requested lease lasts longer, or was requested no longer.
local function note_late(unit, id, token, ended_ms)
  if id ~= '' and ended_ms - math.floor(token / 1000) <= 1000 then
    unit.late = unit.late or {}
    unit.late[string.match(id, '^[^.]*')] = true
  end
end

-- One who waits for its chance only is told to come when the lock becomes free. It leaves the line, and until
-- it has got the lock, or is not heard of any more, nobody else is told: it tries again and again by itself,
-- so that those who pass by need not look at the line.

-- Nobody is told to come for longer than this: more is left where the clock has stepped back.
local MOST_CALLED_MS = 60000

local function is_called(called, now_ms)
  if called == '0' then
    return false
  end
  local left_ms = tonumber(string.match(called, '^%d+')) - now_ms
  return left_ms > 0 and left_ms <= MOST_CALLED_MS
end

local function called_id(called)
  return string.match(called, '/(.*)$')
end

local function call_until(now_ms, claim_ms, id)
  return now_ms + claim_ms .. '/' .. id
end

-- One that was told to come finds that another was quicker: that one passes by, or keeps the lock.

-- Longer than the work of those who take and give back as fast as they can.
local PASSING_MS = 20

-- Whether the lock is free, or was taken so recently that trying again by itself beats standing in line.
local function passes_by(lock, now_ms)
  return is_free(lock) or math.abs(now_ms - lock.token / 1000) <= PASSING_MS
end

-- Its place is kept: it has waited longest.
local function stand_before_all(queue, text, last_ticket)
  if last_ticket == 0 then
    return
  end
  local first = redis.call('ZRANGE', queue, '0', '0', 'WITHSCORES')
  if first[1] then
    redis.call('ZADD', queue, 'NX', math.floor(first[2]) - 1, text)
  end
end

-- Gives the lock to a ticket, or offers it for the time in which its process has to ask, and tells the one behind
-- it. Answers 'granted', 'untold' when it may not be told, and so asks by itself, and false, having only removed the ticket, when
-- the process is gone.
local function hand_over(lock, queue, ticket, behind, claim_ms, now_us, how)
  local heard = listens_here(ticket, how)
  if heard == false then
    redis.call('ZREM', queue, ticket.text)
    return false
  end
  local now_ms = math.floor(now_us / 1000)
  local lease_ms = offered_ms(ticket, heard, claim_ms, now_ms)
  local token, expires_at_ms = new_token(lock, now_us), now_ms + lease_ms
  local message = 'granted ' .. ticket.id .. ' ' .. token .. ' ' .. expires_at_ms .. ' ' .. now_ms
  local next_ticket = behind and parse_ticket(behind)
  local is_offer = lease_ms < ticket.lease_ms
  local together = not is_offer and next_ticket and process_of(next_ticket) == process_of(ticket)
  if together then
    message = message .. '\n' .. first_message(next_ticket, lease_ms)
  end
  if not tell_granted(queue, ticket, message, how) then
    return 'untold'
  end
  redis.call('ZREM', queue, ticket.text)
  grant(lock, ticket.id, ticket.holder, token, expires_at_ms)
  if is_offer and next_ticket and process_of(next_ticket) == process_of(ticket) then
    call_other(queue, process_of(ticket), lease_ms, how)
  end
  if not together and not call_next(queue, next_ticket, lease_ms, how) then
    lock.last_ticket = 0
  end
  return 'granted'
end

-- Tells one who waits for its chance only to come, and the one behind it to look when that time is over: who
-- was told may not come. Answers false, and has only removed the ticket, when the process is gone.
local function call_up(lock, queue, ticket, behind, claim_ms, now_us, how)
  redis.call('ZREM', queue, ticket.text)
  if not tell_process(ticket, 'come ' .. ticket.id, how) then
    return false
  end
  local now_ms, next_ticket = math.floor(now_us / 1000), behind and parse_ticket(behind)
  lock.called = call_until(now_ms, claim_ms, ticket.id)
  local together = next_ticket and process_of(next_ticket) == process_of(ticket)
  if together and not has_just_asked(ticket, now_ms) then
    call_other(queue, process_of(ticket), claim_ms, how)
  end
  if not call_next(queue, next_ticket, claim_ms, how) then
    lock.last_ticket = 0
  end
  return true
end

-- Whether one that was told to come has not come, though it had the time.
local function is_overdue(called, now_ms)
  return called ~= '0' and not is_called(called, now_ms)
end

-- Sends back the tickets of processes that did not take what they were offered, or did not come.
local function send_back_late(lock, queue, own, now_ms, how)
  if is_overdue(lock.called, now_ms) then
    lock.late = lock.late or {}
    lock.late[process_of({ id = called_id(lock.called) })] = true
    lock.called = '0'
  end
  if lock.mode == 'l' then
    note_late(lock, lock.id, lock.token, lock.expires_at_ms)
    -- Once: its attempt may stand in line again.
    lock.id = ''
  end
  if lock.late then
    send_back(queue, lock.late, own, how)
  end
end

-- Hands a free lock to the first in line who is alive; one who waits for its chance only (kind b) is told to
-- come instead. Answers 'own' when that was the caller's own ticket, 'nobody' when the line is empty, 'untold' when
-- the first may not be told, and 'more' when the lock is still free: readers are first, or the call ended among dead tickets.
local function serve(lock, queue, own, claim_ms, now_us, how)
  local now_ms = math.floor(now_us / 1000)
  if lock.mode == 'l' or lock.late or is_overdue(lock.called, now_ms) then
    send_back_late(lock, queue, own, now_ms, how)
  end
  for _ = 1, MOST_SKIPPED do
    local pair = redis.call('ZRANGE', queue, '0', '1')
    if not pair[1] then
      lock.last_ticket = 0
      return 'nobody'
    end
    local ticket = parse_ticket(pair[1])
    if ticket.text == own then
      return 'own'
    end
    if ticket.kind == 's' then
      return 'more'
    elseif ticket.kind == 'b' then
      if is_called(lock.called, now_ms) or call_up(lock, queue, ticket, pair[2], claim_ms, now_us, how) then
        return 'told'
      end
    else
      local came = hand_over(lock, queue, ticket, pair[2], claim_ms, now_us, how)
      if came == 'granted' then
        return 'granted'
      elseif came == 'untold' then
        if not pass_silent(queue, ticket, own, now_ms, how) then
          return 'untold'
        end
      end
    end
  end
  return 'more'
end

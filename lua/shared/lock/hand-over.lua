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

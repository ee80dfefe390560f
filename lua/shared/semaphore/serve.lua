-- Permits are granted to those who wait, first come first served: one who wants much is waited for.

-- Tickets to which one call grants permits.
local MOST_GRANTED = 100

-- Grants the first ticket a permit, for the time in which its process has to confirm, and in the same message
-- tells the one behind it, of the same process, that it is the first now. Answers 'granted', 'called' when it
-- told the next one too, and 'gone', having only removed the ticket, when the process is gone.
local function hand_permit(semaphore, queue, permits, ids, ticket, behind, claim_ms, now_us, how)
  local now_ms = math.floor(now_us / 1000)
  local lease_ms = math.min(ticket.lease_ms, claim_ms)
  local token, expires_at_ms = new_token(semaphore, now_us), now_ms + lease_ms
  local message = 'granted ' .. ticket.id .. ' ' .. token .. ' ' .. expires_at_ms .. ' ' .. now_ms
  local together = behind
    and process_of(behind) == process_of(ticket)
    and behind.units <= semaphore.limit
    and not fits(semaphore, ticket.units + behind.units)
  if together then
    local recheck_ms = lease_ms
    if semaphore.used > 0 then
      recheck_ms = math.min(lease_ms, next_end_in_ms(semaphore, now_ms))
    end
    message = message .. '\n' .. first_message(behind, recheck_ms)
  end
  redis.call('ZREM', queue, ticket.text)
  if not tell_process(ticket, message, how) then
    return 'gone'
  end
  add_permit(semaphore, permits, ids, ticket, token, expires_at_ms, now_ms)
  return together and 'called' or 'granted'
end

-- The first two tickets, parsed.
local function first_two(queue)
  local pair = redis.call('ZRANGE', queue, '0', '1')
  return pair[1] and parse_ticket(pair[1]), pair[2] and parse_ticket(pair[2])
end

-- Grants permits to the first in line as long as they fit. Answers 'own' when it came to the caller's own
-- ticket, which fits; 'nobody' when the line is empty; 'served' when the first in line has been told that it
-- is; 'more' when the call ended among tickets of the dead.
local function serve(semaphore, queue, permits, ids, own, claim_ms, now_us, how)
  local now_ms = math.floor(now_us / 1000)
  local granted = 0
  local ticket, behind
  for _ = 1, MOST_SKIPPED do
    -- Whoever stood behind one that has left the line is the first now.
    ticket, behind = behind, nil
    if not ticket then
      ticket, behind = first_two(queue)
    end
    if not ticket then
      semaphore.last_ticket = 0
      return 'nobody'
    end
    if ticket.units > semaphore.limit then
      -- It asks again, and learns that it asks for too much.
      redis.call('ZREM', queue, ticket.text)
      tell_process(ticket, 'come ' .. ticket.id, how)
    elseif not fits(semaphore, ticket.units) then
      if tell_process(ticket, first_message(ticket, next_end_in_ms(semaphore, now_ms)), how) then
        return 'served'
      end
      redis.call('ZREM', queue, ticket.text)
    elseif ticket.text == own then
      return 'own'
    elseif granted == MOST_GRANTED then
      if tell_process(ticket, 'come ' .. ticket.id, how) then
        return 'served'
      end
      redis.call('ZREM', queue, ticket.text)
    else
      local came = hand_permit(semaphore, queue, permits, ids, ticket, behind, claim_ms, now_us, how)
      if came == 'called' then
        return 'served'
      elseif came == 'granted' then
        granted = granted + 1
      end
    end
  end
  ticket = first_ticket(queue)
  if ticket then
    tell_process(ticket, 'come ' .. ticket.id, how)
  end
  return 'more'
end

-- Permits are granted to waiters, first come first served: smaller requests do not pass a large one.

-- Tickets to which one call grants permits.
local MOST_GRANTED = 100

-- Grants the first ticket a permit, or offers it for the time that its process has to call. The same message notifies
-- the next ticket, if it is of the same process, that it is first now. Returns 'granted', 'offered', 'called' if it
-- notified the next one too, 'unnotified' if it may not be notified and so polls, and 'dead', having only removed the
-- ticket, if the process is dead.
local function hand_permit(keys, semaphore, ticket, behind)
  local heard = listens_here(ticket, semaphore.how)
  if heard == false then
    drop_ticket(keys, ticket)
    return 'dead'
  end
  local now_ms, lease_ms = semaphore.now_ms, offered_ms(semaphore, ticket, heard)
  local token, expires_at_ms = new_token(semaphore), now_ms + lease_ms
  local message = 'granted ' .. ticket.id .. ' ' .. token .. ' ' .. expires_at_ms .. ' ' .. now_ms
  local is_offer = lease_ms < ticket.lease_ms
  local together = not is_offer
    and behind
    and process_of(behind) == process_of(ticket)
    and behind.units <= semaphore.limit
    and not fits(semaphore, ticket.units + behind.units)
  if together then
    local recheck_ms = lease_ms
    if semaphore.used > 0 then
      recheck_ms = math.min(lease_ms, next_end_in_ms(semaphore))
    end
    message = message .. '\n' .. first_message(behind, recheck_ms)
  end
  local before, used, soonest, last =
    semaphore.token, semaphore.used, semaphore.soonest_end_ms, semaphore.last_end_ms
  try_to_drop(keys, semaphore)
  add_permit(keys, semaphore, ticket, token, expires_at_ms)
  if publish_to(ticket, message, semaphore.how) then
    drop_ticket(keys, ticket)
    return together and 'called' or is_offer and 'offered' or 'granted'
  end
  forget_permits(keys, semaphore, { token })
  semaphore.token, semaphore.used, semaphore.soonest_end_ms, semaphore.last_end_ms =
    before, used, soonest, last
  return 'unnotified'
end

-- Grants permits to the first in line as long as they fit. Returns 'own' if it reached the caller's own ticket, which
-- fits; 'none' if the line is empty; 'served' if the first in line has been notified; 'more' if the call ended among
-- dead tickets.
local function serve(keys, semaphore, own)
  local granted = 0
  -- The process of the last offer: it may sleep, and then cannot notify the next one.
  local asleep
  local ticket, behind
  if semaphore.late then
    send_back(keys, semaphore, semaphore.late, own)
  end
  for _ = 1, MOST_SKIPPED do
    -- The ticket after one that has left the line is the first now.
    ticket, behind = behind, nil
    if not ticket then
      ticket, behind = first_two(keys)
    end
    if not ticket then
      semaphore.last_ticket, semaphore.is_saved = 0, false
      return 'none'
    end
    if ticket.units > semaphore.limit then
      -- It calls again, and learns that it asks for too much.
      drop_ticket(keys, ticket)
      notify_process(ticket, 'come ' .. ticket.id, semaphore.how)
    elseif not fits(semaphore, ticket.units) then
      local recheck_ms, looks = next_end_in_ms(semaphore), own ~= '' and fits(semaphore, 1)
      local ask_in_ms = looks and math.min(recheck_ms, 2000) or recheck_ms
      if not notify_process(ticket, first_message(ticket, ask_in_ms), semaphore.how) then
        drop_ticket(keys, ticket)
      else
        local passed = false
        if looks then
          passed = pass_silent(keys, semaphore, ticket, own)
          behind = nil
        end
        if not passed then
          if process_of(ticket) == asleep then
            call_other(keys, semaphore, asleep, recheck_ms)
          end
          return 'served'
        end
      end
    elseif ticket.text == own then
      return 'own'
    elseif granted == MOST_GRANTED then
      if notify_process(ticket, 'come ' .. ticket.id, semaphore.how) then
        return 'served'
      end
      drop_ticket(keys, ticket)
    else
      local came = hand_permit(keys, semaphore, ticket, behind)
      if came == 'called' then
        return 'served'
      elseif came == 'unnotified' then
        if not pass_silent(keys, semaphore, ticket, own) then
          return 'served'
        end
        behind = nil
      elseif came ~= 'dead' then
        granted = granted + 1
        asleep = came == 'offered' and process_of(ticket) or nil
      end
    end
  end
  ticket = first_ticket(keys)
  if ticket then
    notify_process(ticket, 'come ' .. ticket.id, semaphore.how)
  end
  return 'more'
end

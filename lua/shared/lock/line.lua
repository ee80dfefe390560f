-- A barging waiter is notified to come when the lock becomes free. It leaves the line, and until it has got the lock,
-- or its call time is over, no other waiter is notified: it polls by itself, so that barging callers need not check the
-- line.

-- No waiter is called for longer than this: more remains only if the clock has stepped back.
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

local function call_until(until_ms, id)
  return until_ms .. '/' .. id
end

-- A called waiter finds that another one was quicker: a barging caller, or the holder itself.

-- Longer than the work of holders that acquire and release as fast as they can.
local PASSING_MS = 20

-- Whether the lock is free, or was taken so recently that polling beats queueing.
local function passes_by(lock)
  return is_free(lock) or math.abs(lock.now_ms - lock.token / 1000) <= PASSING_MS
end

-- The delay of its polling.
local TRY_AGAIN_MS = 2

-- Grants a free lock to the ticket that calls. Another one that was called may still come.
local function grant_to(lock, ticket)
  local is_awaited = is_called(lock.called, lock.now_ms) and called_id(lock.called) ~= ticket.id
  lock.called = is_awaited and lock.called or '0'
  grant(lock, ticket.id, ticket.holder, new_token(lock), lock.now_ms + ticket.lease_ms)
end

-- Its place is kept: it has waited longest.
local function stand_before_all(keys, lock, text)
  if lock.last_ticket == 0 then
    return
  end
  local first = redis.call('ZRANGE', keys.queue, '0', '0', 'WITHSCORES')
  if first[1] then
    redis.call('ZADD', keys.queue, 'NX', math.floor(first[2]) - 1, text)
  end
end

-- Grants the lock to a ticket, and notifies its process, after the writes. `granted`: the token, when the lease ends, and
-- the message. Returns false, and leaves lock and line as they were, if the user may not publish; an error, if it may
-- not remove the ticket.
local function notify_owner(keys, lock, ticket, granted)
  local mode, id, holder, token, ended_ms = lock.mode, lock.id, lock.holder, lock.token, lock.expires_at_ms
  grant(lock, ticket.id, ticket.holder, granted[1], granted[2])
  save_freed_lock(keys.state, lock)
  lock.is_saved = true
  local is_dropped = type(redis.pcall('ZREM', keys.queue, ticket.text)) == 'number'
  if is_dropped and publish_to(ticket, granted[3], lock.how) then
    return true
  end
  grant(lock, id, holder, token, ended_ms)
  lock.mode, lock.is_saved = mode, false
  save_freed_lock(keys.state, lock)
  if not is_dropped then
    -- Refused again.
    drop_ticket(keys, ticket)
  end
  put_back(keys, ticket)
  return false
end

-- Grants the lock to a ticket, or offers it for the time that its process has to call, and notifies the next one.
-- Returns 'granted', 'unnotified' if it may not be notified and so polls, or false, having only removed the ticket, if
-- the process is dead.
local function hand_over(keys, lock, ticket, behind)
  local heard = listens_here(ticket, lock.how)
  if heard == false then
    drop_ticket(keys, ticket)
    return false
  end
  local now_ms, lease_ms = lock.now_ms, offered_ms(lock, ticket, heard)
  local token, expires_at_ms = new_token(lock), now_ms + lease_ms
  local message = 'granted ' .. ticket.id .. ' ' .. token .. ' ' .. expires_at_ms .. ' ' .. now_ms
  local is_offer = lease_ms < ticket.lease_ms
  local is_behind = behind and process_of(behind) == process_of(ticket)
  local together = not is_offer and is_behind
  if together then
    message = message .. '\n' .. first_message(behind, lease_ms)
  end
  if not notify_owner(keys, lock, ticket, { token, expires_at_ms, message }) then
    return 'unnotified'
  end
  if is_offer and is_behind then
    call_other(keys, lock, process_of(ticket), lease_ms)
  end
  if not together and not call_next(keys, lock, behind, lease_ms) then
    lock.last_ticket, lock.is_saved = 0, false
  end
  return 'granted'
end

-- Notifies a barging waiter to come, and the next one to check when that time is over, because the called one may not
-- come. Returns false, and has only removed the ticket, if the process is dead.
local function call_up(keys, lock, ticket, behind)
  drop_ticket(keys, ticket)
  if not notify_process(ticket, 'come ' .. ticket.id, lock.how) then
    return false
  end
  lock.called = call_until(lock.now_ms + lock.claim_ms, ticket.id)
  local together = behind and process_of(behind) == process_of(ticket)
  if together and not has_just_asked(lock, ticket) then
    call_other(keys, lock, process_of(ticket), lock.claim_ms)
  end
  if not call_next(keys, lock, behind, lock.claim_ms) then
    lock.last_ticket = 0
  end
  return true
end

-- Notifies the first in line behind a new holder. A right that is missing for waiters must not reject the grant: the lock
-- would be held without an owner.
local function call_behind(keys, lock, recheck_ms)
  if lock.last_ticket == 0 then
    return
  end
  local is_whole, are_called = pcall(function()
    return call_first(keys, lock, recheck_ms)
  end)
  if is_whole and not are_called then
    lock.last_ticket = 0
    save_lock(keys.state, lock)
  end
end

-- Whether a called waiter has not come within its time.
local function is_overdue(lock)
  return lock.called ~= '0' and not is_called(lock.called, lock.now_ms)
end

-- Sends back the tickets of processes that did not take an offer, or did not come.
local function send_back_late(keys, lock, own)
  if is_overdue(lock) then
    lock.late = lock.late or {}
    lock.late[process_of({ id = called_id(lock.called) })] = true
    lock.called = '0'
  end
  if lock.mode == 'l' then
    note_late(lock, lock.id, lock.token, lock.expires_at_ms)
    -- Only once: its attempt may join the line again.
    lock.id = ''
  end
  if lock.late then
    send_back(keys, lock, lock.late, own)
  end
end

-- Hands a free lock to the first living waiter in line; a barging one (kind b) is called instead. Returns 'own' if that
-- was the caller's own ticket, 'none' if the line is empty, 'unnotified' if the first may not be notified, and 'more'
-- if the lock is still free: readers are first, or the call ended among dead tickets.
local function serve(keys, lock, own)
  if lock.mode == 'l' or lock.late or is_overdue(lock) then
    send_back_late(keys, lock, own)
  end
  for _ = 1, MOST_SKIPPED do
    local ticket, behind = first_two(keys)
    if not ticket then
      lock.last_ticket = 0
      return 'none'
    end
    if ticket.text == own then
      return 'own'
    end
    if ticket.kind == 's' then
      return 'more'
    elseif ticket.kind == 'b' then
      if is_called(lock.called, lock.now_ms) or call_up(keys, lock, ticket, behind) then
        return 'notified'
      end
    else
      local came = hand_over(keys, lock, ticket, behind)
      if came == 'granted' then
        return 'granted'
      elseif came == 'unnotified' then
        if not pass_silent(keys, lock, ticket, own) then
          return 'unnotified'
        end
      end
    end
  end
  return 'more'
end

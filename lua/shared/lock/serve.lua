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

-- The quick way of a lock whose line need not be looked at: reads and writes its state as text, field for
-- field as shared/lock/state and shared/lock/save do, without taking it apart. Anything else takes the long
-- way.

-- The newest token of a free lock and, as text, what stands behind it about its line. A lock with a line is
-- for those who may go before it and do not stand in it. Nil for the attempt that gave the lock back.
local function free_token(stored, id, passes)
  if not stored then
    return '0', '0 0'
  end
  local token, last_id = string.match(stored, '^1 %- (%d+) %d+ 0 0 (%S*)')
  if token then
    return last_id ~= id and token, '0 0'
  end
  local last_ticket, called
  token, last_ticket, called, last_id = string.match(stored, '^1 %- (%d+) %d+ (%d+) (%S+) (%S*)')
  if token and last_id ~= id and passes then
    return token, last_ticket .. ' ' .. (called_id(called) == id and '0' or called)
  end
  return nil
end

-- True when this token is held until then, and nobody need be told when it is given back.
local function is_quickly_given_back(stored, token, now_ms)
  local known, expires_at_ms, last_ticket, called = string.match(stored or '', '^1 x (%d+) (%d+) (%d+) (%S+)')
  return known == token
    and tonumber(expires_at_ms) > now_ms
    and (last_ticket == '0' or is_called(called, now_ms))
end

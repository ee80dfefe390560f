-- The quick way of a lock whose line need not be looked at: reads and writes its state as text, field for
-- field as shared/lock/state and shared/lock/save do, without taking it apart. Anything else takes the long
-- way.

-- The newest token of a free lock and, as text, what stands behind it about its line. A lock with a line is
-- for those who may go before it and do not stand in it. Nil for the attempt that gave the lock back.
local function free_token(stored, id, passes)
  if not stored then
    return '0', '0 0'
  end
  local token, last_ticket, called, last_id = string.match(stored, '^1 %- (%d+) 0 (%d+) (%S+) (%S*)')
  if token and last_id ~= id and (last_ticket == '0' or passes) then
    return token, last_ticket .. ' ' .. (called_id(called) == id and '0' or called)
  end
  return nil
end

-- When the lease of this token ends, what its state is once it is given back, and how long that is kept; nil
-- when the line has to be looked at.
local function given_back(stored, token, now_ms)
  local known, expires_at_ms, last_ticket, called, id =
    string.match(stored or '', '^1 x (%d+) (%d+) (%d+) (%S+) (%S*)')
  if known == token and (last_ticket == '0' or is_called(called, now_ms)) then
    local text = '1 - ' .. token .. ' 0 ' .. last_ticket .. ' ' .. called .. ' ' .. id .. ' '
    return tonumber(expires_at_ms), text, last_ticket == '0' and '600000' or '7200000'
  end
  return nil
end

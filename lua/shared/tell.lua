-- Telling the processes of tickets; see shared/tickets.
-- @optional SPUBLISH only where the caller's driver has seen that the server knows sharded channels

local function process_of(ticket)
  return string.match(ticket.id, '^[^.]*')
end

local function first_message(ticket, recheck_ms)
  return 'first ' .. ticket.id .. ' ' .. recheck_ms
end

-- True unless it is certain that the process is gone.
local function tell_process(ticket, message, how)
  if ticket.listens == 0 then
    return true
  end
  local channel = how.channel .. ':' .. process_of(ticket)
  local heard
  if how.sharded then
    heard = redis.call('SPUBLISH', channel, message)
  else
    heard = redis.call('PUBLISH', channel, message)
  end
  return heard > 0 or not how.counted
end

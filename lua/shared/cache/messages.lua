-- Notifies the levels of processes of invalid copies: '<number> <key>'. For a value these are all copies with a smaller
-- token, for a tag all with an older generation. A value that no level may hold needs no notification: its head says
-- so.
-- @optional SPUBLISH only where the caller's driver has seen that the server knows sharded channels
local function notify_levels(key, number, how)
  local channel = how.channel .. ':levels'
  local message = exact(number) .. ' ' .. key
  if how.sharded then
    redis.call('SPUBLISH', channel, message)
  else
    redis.call('PUBLISH', channel, message)
  end
end

-- Notifies the waiters of a load of its end: `stored <id>`, `ended <id>`. How: see shared/tickets. elect bounds the
-- length of the list.
local function notify_waiters(waiters, word, how)
  for id in string.gmatch(waiters, '%S+') do
    notify_process({ id = id, listens = 1 }, word .. ' ' .. id, how)
  end
end

-- Notifies the processes of tickets; see shared/tickets. A script checks whether a process listens before it publishes,
-- and never after: the count of PUBLISH does not prove reception. A subscriber on a replica hears a message whose count
-- was zero, and a pattern subscriber is counted for a process that has died. So the stored state decides about grants,
-- and a message only notifies.

local HOW = arguments({
  channel = 'text', -- prefix of the channels of processes
  sharded = 'flag', -- whether to use sharded channels
  counted = 'flag', -- whether a channel without listeners means that its process is dead
})

-- A parsed ticket knows its process.
local function process_of(ticket)
  return ticket.process or string.match(ticket.id, '^[^.]*')
end

local function first_message(ticket, recheck_ms)
  return 'first ' .. ticket.id .. ' ' .. recheck_ms
end

-- Whether the process of a ticket listens on this node; nil if unknown: the process does not listen, the number of
-- subscribers proves nothing, or the user has no right to ask.
local function listens_here(ticket, how)
  if ticket.listens == 0 or not how.counted then
    return nil
  end
  local channel = how.channel .. ':' .. process_of(ticket)
  local counts
  if how.sharded then
    counts = redis.pcall('PUBSUB', 'SHARDNUMSUB', channel)
  else
    counts = redis.pcall('PUBSUB', 'NUMSUB', channel)
  end
  if counts.err then
    return nil
  end
  return counts[2] > 0
end

-- Returns false if the user may not publish there: then the waiter polls after a while. Earlier writes of the script
-- are kept in any case, so an error must not end it.
-- @optional SPUBLISH only where the caller's driver has seen that the server knows sharded channels
local function publish_to(ticket, message, how)
  if ticket.listens == 0 then
    return true
  end
  local channel = how.channel .. ':' .. process_of(ticket)
  local heard
  if how.sharded then
    heard = redis.pcall('SPUBLISH', channel, message)
  else
    heard = redis.pcall('PUBLISH', channel, message)
  end
  return type(heard) == 'number'
end

-- Returns false, without publishing, if it is certain that the process does not listen on this node.
local function notify_process(ticket, message, how)
  if listens_here(ticket, how) == false then
    return false
  end
  publish_to(ticket, message, how)
  return true
end

-- Notifies waiters to look now. An empty channel notifies none, nor does a user without the right to publish: then they
-- poll after a while. Earlier writes of the script are kept in any case, so an error must not end it.
-- @optional SPUBLISH only where the caller's driver has seen that the server knows sharded channels
local function wake(channel, sharded, reason)
  if channel == '' then
    return
  end
  if sharded then
    redis.pcall('SPUBLISH', channel, reason)
  else
    redis.pcall('PUBLISH', channel, reason)
  end
end

-- Which of these processes listen on this node: a set; nil if unknown.
local function listening_here(processes, how)
  if not how.counted then
    return nil
  end
  local channels = {}
  for at, process in ipairs(processes) do
    channels[at] = how.channel .. ':' .. process
  end
  local counts = redis.pcall('PUBSUB', how.sharded and 'SHARDNUMSUB' or 'NUMSUB', unpack(channels))
  if counts.err then
    return nil
  end
  local listening = {}
  for at, process in ipairs(processes) do
    listening[process] = counts[at * 2] > 0
  end
  return listening
end

-- Which of these processes listen on this node: a set; nil where that is not known.
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

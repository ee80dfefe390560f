-- The commands of retention, each once on nothing: nothing is added where nothing could go.
local function try_retention(keys)
  try_whole_removal(keys)
  redis.call('XLEN', keys.early)
  redis.call('XRANGE', keys.early, '-', '-', 'COUNT', '1')
  redis.call('ZRANGE', keys.guards, '0', '0')
end

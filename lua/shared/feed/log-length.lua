-- How many messages are visible.
local function log_length(feed, keys)
  local length = redis.call('XLEN', keys.log)
  return feed.moved == 0 and length or length + redis.call('XLEN', keys.early)
end

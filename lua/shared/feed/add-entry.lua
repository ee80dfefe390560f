-- Stores a message in the log; see shared/feed/entry for the fields.
local function add_entry(log, place, ttl_ms, extra, body)
  if ttl_ms == '0' and extra == '' then
    redis.call('XADD', log, place, 'b', body)
  else
    redis.call('XADD', log, place, 't', ttl_ms, 'x', extra, 'b', body)
  end
end

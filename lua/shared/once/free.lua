-- Ends an attempt without a result: the key is free again. It only takes away, so that it also works when the server is out of memory.
local function free_key(state, token, now_ms)
  redis.call('HDEL', state, 'lease_ends_ms', 'fingerprint')
  keep_until(state, token, now_ms, now_ms)
end

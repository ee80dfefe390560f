-- Gives the lease up and wakes who waits for it. What remains is the token, so that later ones are greater. Only
-- takes away, so that it also works when the server is out of memory.
local function close_load(load, known, word, how)
  redis.call('HDEL', load, 'loader', 'lease_ends_ms', 'floor', 'waiters')
  tell_waiters(known.waiters, word, how)
end

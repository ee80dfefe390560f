-- Gives the lease up and wakes who waits for it. What remains is the greatest token, so that later ones are
-- greater. It takes away first, so that it also works when the server is out of memory.
local function close_load(load, known, word, how)
  redis.call('HDEL', load, 'loader', 'lease_ends_ms', 'floor', 'waiters')
  if known.floor > known.token then
    redis.call('HSET', load, 'token', exact(known.floor))
  end
  tell_waiters(known.waiters, word, how)
end

-- What began before must not be stored after: an open load is refused from now on, and what is known of one that
-- failed does not count any more. `newest`: the greatest token that was given out, so that later ones are greater.
local function revoke(load, known, newest)
  if is_open(known) then
    redis.call('HSET', load, 'floor', exact(newest))
  elseif known.token > 0 then
    redis.call('HDEL', load, 'loader', 'failed', 'failure', 'resting_until_ms')
  end
end

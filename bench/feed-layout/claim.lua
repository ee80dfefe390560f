-- ARGV: messages at most, lease in ms
local limit = tonumber(ARGV[1])
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)

for _, token in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now_ms, 'LIMIT', 0, 100)) do
  for _, position in ipairs(redis.call('ZRANGEBYSCORE', claimed, token, token)) do
    redis.call('ZREM', claimed, position)
    redis.call('ZADD', returned, position, position)
  end
  redis.call('ZREM', leases, token)
end

local free = messages_at(redis.call('ZRANGE', returned, 0, limit - 1))
local front = read_number('front')
-- XRANGE answers nil, not an empty list, when it is asked for none.
local fresh = #free < limit and messages_after(front, limit - #free) or {}
for _, message in ipairs(fresh) do
  free[#free + 1] = message
  front = message.position
end
if #free == 0 then
  return { 0 }
end

local token = math.max(read_number('token') + 1, now_us)
local positions, scored, counted = {}, {}, {}
for at, message in ipairs(free) do
  positions[at] = message.position
end
for at, claims in ipairs(redis.call('HMGET', work, unpack(positions))) do
  scored[#scored + 1] = token
  scored[#scored + 1] = positions[at]
  counted[#counted + 1] = positions[at]
  counted[#counted + 1] = (claims or 0) + 1
end
redis.call('HSET', work, unpack(counted))
redis.call('ZADD', claimed, unpack(scored))
redis.call('ZREM', returned, unpack(positions))
redis.call('ZADD', leases, now_ms + ARGV[2], token)
redis.call('HSET', meta, 'front', front, 'token', token)
return { token, tell_live(free, now_ms) }
